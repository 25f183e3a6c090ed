/// A fault in an HTTP/1.1 message; each has its own case, and none carries a field's value.
@nonexhaustive
public enum HTTP1Error: Error, Equatable, Sendable {
    // The first line of a response.
    case notHTTP
    case unsupportedVersion
    case malformedStatusLine
    case malformedStatusCode
    case invalidReasonPhrase

    // Field lines of a head or a trailer section.
    case bareCarriageReturn
    case bareLineFeed
    case invalidFieldName
    case whitespaceBeforeColon
    case missingColon
    case whitespaceBeforeFirstField
    case foldedLine
    case invalidFieldValue

    // Limits.
    case headTooLarge(limit: Int)
    case lineTooLong(limit: Int)
    case tooManyFields(limit: Int)
    case tooManyInterimResponses(limit: Int)
    case chunkExtensionsTooLarge(limit: Int)
    case trailersTooLarge(limit: Int)
    case tooManyTrailers(limit: Int)

    // Framing.
    case invalidContentLength
    case contentLengthOverflow
    case conflictingContentLengths
    case invalidTransferEncoding
    case repeatedChunkedCoding
    case transferEncodingWithContentLength
    case transferEncodingInHTTP10
    case unsolicitedSwitchingProtocols

    // Chunks.
    case invalidChunkSize
    case chunkSizeOverflow
    case invalidChunkExtension
    case missingChunkEnd

    // The stream ended too early, or spoke too early.
    case responseBeforeRequest
    case closedBeforeResponse
    case truncatedHead
    case truncatedContent(received: UInt64, expected: UInt64)
    case truncatedChunks(received: UInt64)
    case truncatedUntilClose(received: UInt64)

    // What a request must not contain.
    case invalidMethod
    case invalidTarget
    case invalidAuthority
    case invalidRequestFieldName
    case invalidRequestFieldValue(name: String)
    case fieldOwnedByLibrary(name: String)
    case fieldForbiddenInTrailers(name: String)
    case outputTooSmall(needed: Int)
}

extension HTTP1Error: CustomStringConvertible {
    /// What went wrong, in words for a log.
    public var description: String {
        switch self {
        case .notHTTP: "the response does not begin with HTTP/"
        case .unsupportedVersion: "the response's version is not one of HTTP/1"
        case .malformedStatusLine: "malformed status line"
        case .malformedStatusCode: "the status code is not three digits from 100 to 999"
        case .invalidReasonPhrase: "control character in the reason phrase"

        case .bareCarriageReturn: "carriage return without a line feed"
        case .bareLineFeed: "line ends in a bare line feed"
        case .invalidFieldName: "invalid character in a field name, or no name"
        case .whitespaceBeforeColon: "whitespace between a field name and its colon"
        case .missingColon: "field line without a colon"
        case .whitespaceBeforeFirstField: "whitespace before the first field line"
        case .foldedLine: "folded field line (obsolete)"
        case .invalidFieldValue: "control character in a field value"

        case .headTooLarge(let limit): "head larger than \(limit) bytes"
        case .lineTooLong(let limit): "line longer than \(limit) bytes"
        case .tooManyFields(let limit): "more than \(limit) field lines"
        case .tooManyInterimResponses(let limit): "more than \(limit) interim responses"
        case .chunkExtensionsTooLarge(let limit): "more than \(limit) bytes of chunk extensions"
        case .trailersTooLarge(let limit): "trailer section larger than \(limit) bytes"
        case .tooManyTrailers(let limit): "more than \(limit) trailer fields"

        case .invalidContentLength: "Content-Length is not a decimal number"
        case .contentLengthOverflow: "Content-Length is too large a number"
        case .conflictingContentLengths: "Content-Length is given twice with different numbers"
        case .invalidTransferEncoding: "malformed Transfer-Encoding"
        case .repeatedChunkedCoding: "the chunked coding is applied more than once"
        case .transferEncodingWithContentLength: "both Transfer-Encoding and Content-Length"
        case .transferEncodingInHTTP10: "Transfer-Encoding in an HTTP/1.0 response"
        case .unsolicitedSwitchingProtocols: "101 Switching Protocols without being asked"

        case .invalidChunkSize: "malformed chunk size"
        case .chunkSizeOverflow: "chunk size is too large a number"
        case .invalidChunkExtension: "malformed chunk extension"
        case .missingChunkEnd: "no line end after a chunk's data"

        case .responseBeforeRequest: "the server sent bytes before it was sent a request"
        case .closedBeforeResponse: "closed before any byte of a response"
        case .truncatedHead: "closed in the middle of the head"
        case .truncatedContent(let received, let expected):
            "closed after \(received) of \(expected) bytes of content"
        case .truncatedChunks(let received):
            "closed after \(received) bytes, before the last chunk"
        case .truncatedUntilClose(let received):
            "cut off, without a proper close, after \(received) bytes"

        case .invalidMethod: "the method is not a token"
        case .invalidTarget: "the request target has a character that may not be sent"
        case .invalidAuthority: "the authority has a character that may not be sent"
        case .invalidRequestFieldName: "a header field's name is not a token"
        case .invalidRequestFieldValue(let name): "the value of \(name) has a control character"
        case .fieldOwnedByLibrary(let name): "\(name) is written by the library itself\(Self.advice(name))"
        case .fieldForbiddenInTrailers(let name): "\(name) may not be a trailer field"
        case .outputTooSmall(let needed): "the output has no room for \(needed) bytes"
        }
    }

    /// What to do instead of writing the field.
    private static func advice(_ name: String) -> String {
        switch name.lowercased() {
        case "host": ", and says the name in the URL: where to connect is said by addresses"
        case "upgrade", "connection": ": to switch protocols is asked for by the request's upgrade"
        case "expect": ": it is asked for by the request's expectsContinue"
        case "content-length", "transfer-encoding": ": a body says its length, or is sent in chunks"
        default: ""
        }
    }
}
