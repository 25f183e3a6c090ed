internal import DirectCore
public import DirectHTTP1

/// The reason that `HTTPClient.download` does not complete its file, beside failures of the
/// network and of the disk.
@nonexhaustive
public enum DownloadError: Error, Hashable, Sendable {
    /// Only a GET can be downloaded in parts.
    case method(HTTPMethod)
    /// The request has a body.
    case hasBody
    /// The request sets a field that the download itself sets: `Range` or `If-Range`.
    case field(String)
    /// Another download to the same path is in progress, in this process or another one.
    case inProgress
    /// The server sends coded content although the request refuses that (`Accept-Encoding: identity`). Parts
    /// of coded content cannot be put together safely, and the file would not be what the caller asked for.
    case coded
    /// The content has another length than ``DownloadOptions/length``. Content that is too long, and whose
    /// length the server has not announced, is read no further: `actual` is the number of bytes up to there.
    case wrongLength(expected: UInt64, actual: UInt64)
    /// The content has another SHA-256 digest than ``DownloadOptions/sha256``.
    case wrongDigest(expected: [UInt8], actual: [UInt8])
    /// The download began anew ``DownloadOptions/maximumRestarts`` times, and the servers disagreed again.
    case tooManyRestarts(Int, last: Restart)

    /// The reason that a download begins anew: what is in the partial file does not belong to what the server
    /// has.
    @nonexhaustive
    public enum Restart: String, Hashable, Sendable {
        /// The server sent the whole content instead of the rest: the resource has changed, or the server
        /// does not support ranges.
        case wholeContent
        /// The server has no such range (416).
        case noSuchRange
        /// The server sent another range than the request asks for, or does not say which.
        case otherRange
        /// The server sent several ranges (`multipart/byteranges`), but the request asks for one.
        case severalRanges
        /// The server sent a part, but the request asks for the whole.
        case unexpectedPart
        /// The part belongs to another version of the resource.
        case otherVersion
        /// A redirect led to another URL than before, to which the validator does not belong.
        case otherURL
        /// The file was begun with a server that proved another identity, or none, or over a Unix domain
        /// socket; or the part comes from such a server.
        case otherIdentity
        /// The part is of another total length.
        case otherLength
        /// The part is of coded content.
        case coded
        /// The server sent more than it announced.
        case tooLong
        /// The server sent less than it announced, without an error.
        case tooShort
        /// The parts, put together, do not have the expected digest.
        case wrongDigest
    }
}

extension DownloadError: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .method(let method): "a download has to be a GET, not a \(method)"
        case .hasBody: "a download has no request body"
        case .field(let name): "the download sets the field \(name) itself"
        case .inProgress: "another download to the same file is in progress"
        case .coded: "the server sends coded content although the request refuses it"
        case .wrongLength(let expected, let actual):
            "the content should have \(expected) bytes, and has \(actual)"
        case .wrongDigest(let expected, let actual):
            "the SHA-256 digest should be \(Hex.encode(expected)), and is \(Hex.encode(actual))"
        case .tooManyRestarts(let count, let last):
            "the servers do not agree: after \(count) restarts, \(last)"
        }
    }
}

extension DownloadError.Restart: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .wholeContent: "the server sent the whole content instead of the rest"
        case .noSuchRange: "the server does not have the rest"
        case .otherRange: "the server sent another range than the request asks for"
        case .severalRanges: "the server sent several ranges"
        case .unexpectedPart: "the server sent a part instead of the whole content"
        case .otherVersion: "the server sent a part of another version"
        case .otherURL: "a redirect led to another URL than before"
        case .otherIdentity: "the server has not proved the same identity as before"
        case .otherLength: "the server sent a part of another total length"
        case .coded: "the server sent a part of coded content"
        case .tooLong: "the server sent more than it announced"
        case .tooShort: "the server sent less than it announced"
        case .wrongDigest: "the parts do not have the expected digest"
        }
    }
}
