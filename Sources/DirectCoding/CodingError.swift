/// Why content could not be decoded.
@nonexhaustive
public enum CodingError: Error, Hashable, Sendable {
    /// The bytes break the rules of their coding, or its check value is wrong; the words are the library's.
    case corrupt(ContentCoding, detail: String)
    /// The content ended before its coding did.
    case truncated(ContentCoding)
    /// There is something behind the end of the coded content.
    case trailingBytes(ContentCoding)
    /// Decoding takes more memory than is given to it.
    case windowTooLarge(ContentCoding, limit: Int)
    /// There is more decoded content than this.
    case tooLarge(limit: UInt64)
    /// The content grows by more than this factor: nobody sends such things but to harm.
    case ratioTooHigh(limit: UInt64)
    /// More content in a row than this decodes to nothing.
    case inputWithoutOutput(limit: UInt64)
    /// The content is coded more often than this.
    case tooManyCodings(limit: Int)
    /// There is no memory for a decoder.
    case outOfMemory(ContentCoding)
}

extension CodingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .corrupt(let coding, let detail): "the content is no valid \(coding.name): \(detail)"
        case .truncated(let coding): "the content ends in the middle of its \(coding.name)"
        case .trailingBytes(let coding): "there are bytes behind the end of the \(coding.name)"
        case .windowTooLarge(let coding, let limit):
            "decoding the \(coding.name) takes a window of more than \(limit) bytes"
        case .tooLarge(let limit): "the decoded content is larger than \(limit) bytes"
        case .ratioTooHigh(let limit): "the content grows by more than \(limit) to 1 when decoded"
        case .inputWithoutOutput(let limit): "more than \(limit) bytes of content in a row decode to nothing"
        case .tooManyCodings(let limit): "the content is coded more than \(limit) times"
        case .outOfMemory(let coding): "no memory to decode \(coding.name)"
        }
    }
}
