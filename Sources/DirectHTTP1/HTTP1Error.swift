/// A violation of HTTP/1.1's rules in a message, received or to be sent. Each has its own case, and none
/// carries a field's value.
@nonexhaustive
public enum HTTP1Error: Error, Equatable, Sendable {
    // The first line of a response.
    /// The response does not begin with `HTTP/`.
    case notHTTP
    /// The response's version is not HTTP/1.x.
    case unsupportedVersion
    /// The status line does not have the form `HTTP/1.x NNN`.
    case malformedStatusLine
    /// The status code is not three digits from 100 to 999.
    case malformedStatusCode
    /// The reason phrase has a control character.
    case invalidReasonPhrase

    // Field lines of a head or a trailer section.
    /// A carriage return is not followed by a line feed.
    case bareCarriageReturn
    /// A line ends in a bare line feed.
    case bareLineFeed
    /// A field name is empty or has a character that is not allowed in a token.
    case invalidFieldName
    /// There is whitespace between a field name and its colon (RFC 9112, section 5.1).
    case whitespaceBeforeColon
    /// A field line has no colon.
    case missingColon
    /// There is whitespace before the first field line (RFC 9112, section 2.2).
    case whitespaceBeforeFirstField
    /// `Content-Length` or `Transfer-Encoding` is folded (RFC 9112, section 5.2).
    case foldedLine
    /// A field value has a control character.
    case invalidFieldValue

    // Limits (`HTTP1Limits`).
    /// The heads of a response are larger than ``HTTP1Limits/headBytes``.
    case headTooLarge(limit: Int)
    /// A line is longer than ``HTTP1Limits/lineBytes``.
    case lineTooLong(limit: Int)
    /// A head has more field lines than ``HTTP1Limits/fieldCount``.
    case tooManyFields(limit: Int)
    /// There are more interim responses than the limit.
    case tooManyInterimResponses(limit: Int)
    /// The extensions of a body's chunks are larger than the limit.
    case chunkExtensionsTooLarge(limit: Int)
    /// The trailer section is larger than the limit.
    case trailersTooLarge(limit: Int)
    /// The trailer section has more fields than the limit.
    case tooManyTrailers(limit: Int)

    // Framing.
    /// Content-Length is not a decimal number.
    case invalidContentLength
    /// Content-Length exceeds 2^63 - 1.
    case contentLengthOverflow
    /// Content-Length is given more than once, with different numbers.
    case conflictingContentLengths
    /// Transfer-Encoding is malformed.
    case invalidTransferEncoding
    /// The chunked coding is applied more than once.
    case repeatedChunkedCoding
    /// The content has a transfer coding besides chunked, and none was asked for.
    case unsupportedTransferCoding
    /// The response has both Transfer-Encoding and Content-Length.
    case transferEncodingWithContentLength
    /// An HTTP/1.0 response has Transfer-Encoding.
    case transferEncodingInHTTP10
    /// The server answered 101 Switching Protocols to a request that did not ask for it.
    case unsolicitedSwitchingProtocols

    // Chunks.
    /// The size of a chunk is malformed.
    case invalidChunkSize
    /// The size of a chunk exceeds 2^63 - 1.
    case chunkSizeOverflow
    /// A chunk extension is malformed.
    case invalidChunkExtension
    /// The data of a chunk is not followed by a line end.
    case missingChunkEnd

    // The stream ended too early, or bytes came too early.
    /// The server sent bytes before it was sent a request.
    case responseBeforeRequest
    /// The connection was closed before any byte of a response.
    case closedBeforeResponse
    /// The connection was closed within the head.
    case truncatedHead
    /// The connection was closed before the content was complete.
    case truncatedContent(received: UInt64, expected: UInt64)
    /// The connection was closed before the last chunk.
    case truncatedChunks(received: UInt64)
    /// Content that ends with the stream was cut off, without a clean close.
    case truncatedUntilClose(received: UInt64)

    // Content that a request must not have.
    /// The method is not a token.
    case invalidMethod
    /// The request target has a character that may not be sent, or is empty.
    case invalidTarget
    /// The authority has a character that may not be sent, or is empty.
    case invalidAuthority
    /// A field's name is not a token.
    case invalidRequestFieldName
    /// A field's value has a control character.
    case invalidRequestFieldValue(name: String)
    /// The library writes this field itself, and not with this value.
    case fieldOwnedByLibrary(name: String)
    /// This field may not be sent as a trailer.
    case fieldForbiddenInTrailers(name: String)
    /// A TRACE request has content (RFC 9110, section 9.3.8).
    case contentInTrace
    /// The buffer has no room for this many bytes.
    case outputTooSmall(needed: Int)
}

extension HTTP1Error: CustomStringConvertible {
    /// The error in one line, for a log.
    public var description: String {
        switch self {
        case .notHTTP: "the response does not begin with HTTP/"
        case .unsupportedVersion: "the response's version is not HTTP/1.x"
        case .malformedStatusLine: "malformed status line"
        case .malformedStatusCode: "the status code is not three digits from 100 to 999"
        case .invalidReasonPhrase: "control character in the reason phrase"

        case .bareCarriageReturn: "carriage return without a line feed"
        case .bareLineFeed: "line ends in a bare line feed"
        case .invalidFieldName: "invalid character in a field name, or no name"
        case .whitespaceBeforeColon: "whitespace between a field name and its colon"
        case .missingColon: "field line without a colon"
        case .whitespaceBeforeFirstField: "whitespace before the first field line"
        case .foldedLine: "folded Content-Length or Transfer-Encoding"
        case .invalidFieldValue: "control character in a field value"

        case .headTooLarge(let limit): "head larger than \(limit) bytes"
        case .lineTooLong(let limit): "line longer than \(limit) bytes"
        case .tooManyFields(let limit): "more than \(limit) field lines"
        case .tooManyInterimResponses(let limit): "more than \(limit) interim responses"
        case .chunkExtensionsTooLarge(let limit): "more than \(limit) bytes of chunk extensions"
        case .trailersTooLarge(let limit): "trailer section larger than \(limit) bytes"
        case .tooManyTrailers(let limit): "more than \(limit) trailer fields"

        case .invalidContentLength: "Content-Length is not a decimal number"
        case .contentLengthOverflow: "Content-Length is too large"
        case .conflictingContentLengths: "Content-Length is given twice with different numbers"
        case .invalidTransferEncoding: "malformed Transfer-Encoding"
        case .repeatedChunkedCoding: "the chunked coding is applied more than once"
        case .unsupportedTransferCoding: "a transfer coding besides chunked, which was not asked for"
        case .transferEncodingWithContentLength: "both Transfer-Encoding and Content-Length"
        case .transferEncodingInHTTP10: "Transfer-Encoding in an HTTP/1.0 response"
        case .unsolicitedSwitchingProtocols: "101 Switching Protocols without a request for it"

        case .invalidChunkSize: "malformed chunk size"
        case .chunkSizeOverflow: "chunk size is too large"
        case .invalidChunkExtension: "malformed chunk extension"
        case .missingChunkEnd: "no line end after a chunk's data"

        case .responseBeforeRequest: "the server sent bytes before it was sent a request"
        case .closedBeforeResponse: "closed before any byte of a response"
        case .truncatedHead: "closed within the head"
        case .truncatedContent(let received, let expected):
            "closed after \(received) of \(expected) bytes of content"
        case .truncatedChunks(let received):
            "closed after \(received) bytes, before the last chunk"
        case .truncatedUntilClose(let received):
            "cut off, without a clean close, after \(received) bytes"

        case .invalidMethod: "the method is not a token"
        case .invalidTarget: "the request target has a character that may not be sent"
        case .invalidAuthority: "the authority has a character that may not be sent"
        case .invalidRequestFieldName: "a header field's name is not a token"
        case .invalidRequestFieldValue(let name): "the value of \(name) has a control character"
        case .fieldOwnedByLibrary(let name): "the library writes \(name) itself\(Self.advice(name))"
        case .fieldForbiddenInTrailers(let name): "\(name) may not be a trailer field"
        case .contentInTrace: "a TRACE request must not have content"
        case .outputTooSmall(let needed): "the output has no room for \(needed) bytes"
        }
    }

    /// Returns what to do instead of setting the field.
    private static func advice(_ name: String) -> String {
        switch name.lowercased() {
        case "host": ": it names the URL's host; to connect elsewhere, set addresses"
        case "upgrade", "connection": ": to switch protocols, set the request's upgrade"
        case "expect": ": set the request's expectsContinue"
        case "content-length", "transfer-encoding": ": the request's body determines it"
        default: ""
        }
    }
}
