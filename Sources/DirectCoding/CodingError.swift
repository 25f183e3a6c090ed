/// An error in the coding of a response's content, or a limit that decoding it would exceed.
@nonexhaustive
public enum CodingError: Error, Hashable, Sendable {
    /// The bytes break the rules of their coding, or the check value is wrong. The detail is the decoding
    /// library's message.
    case corrupt(ContentCoding, detail: String)
    /// The content ended before its coding did.
    case truncated(ContentCoding)
    /// Bytes follow the end of the coded content.
    case trailingBytes(ContentCoding)
    /// Decoding needs a larger window than the limit allows.
    case windowTooLarge(ContentCoding, limit: Int)
    /// The decoded content exceeds this many bytes.
    case tooLarge(limit: UInt64)
    /// The content grows by more than this factor when decoded, which only a decompression bomb does.
    case ratioTooHigh(limit: UInt64)
    /// More than this many bytes of content in a row decode to no output.
    case inputWithoutOutput(limit: UInt64)
    /// The content has more codings, one over the other, than this.
    case tooManyCodings(limit: Int)
    /// There is no memory for a decoder.
    case outOfMemory(ContentCoding)
}

extension CodingError: CustomStringConvertible {
    /// The error in one line, for a log.
    public var description: String {
        switch self {
        case .corrupt(let coding, let detail): "the content is not valid \(coding.name): \(detail)"
        case .truncated(let coding): "the content ends in the middle of its \(coding.name)"
        case .trailingBytes(let coding): "bytes follow the end of the \(coding.name)"
        case .windowTooLarge(let coding, let limit):
            "decoding the \(coding.name) needs a window of more than \(limit) bytes"
        case .tooLarge(let limit): "the decoded content is larger than \(limit) bytes"
        case .ratioTooHigh(let limit): "the content grows by more than \(limit) to 1 when decoded"
        case .inputWithoutOutput(let limit): "more than \(limit) bytes of content in a row decode to nothing"
        case .tooManyCodings(let limit): "the content is coded more than \(limit) times"
        case .outOfMemory(let coding): "no memory to decode \(coding.name)"
        }
    }
}
