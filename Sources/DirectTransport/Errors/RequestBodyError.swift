/// A reason why a request body cannot be sent.
@nonexhaustive
public enum RequestBodyError: Error, Hashable, Sendable {
    /// The name of the part at this index, counted from 0, is empty or contains a control character.
    case invalidPartName(part: Int)
    /// The file name of the part contains a control character.
    case invalidFileName(part: Int)
    /// The content type of the part is malformed.
    case invalidPartContentType(part: Int)
    /// The body of the part is compressed (``RequestBody/gzipped(level:)``), which a form cannot say of a
    /// part.
    case compressedPart(part: Int)
    /// The body of the part has trailer fields (``RequestBody/followed(by:)``), for which a form has no
    /// place.
    case partWithTrailers(part: Int)
    /// The parts together are longer than a 64-bit length can express.
    case tooLong
    /// The body, or a part of it, can be sent only once and has already been sent. Create a new body for each
    /// request, or use a replayable one (``RequestBody/replayable(length:contentType:_:)``).
    case alreadySent
}

extension RequestBodyError: CustomStringConvertible {
    /// A description of the error, without the offending text.
    public var description: String {
        switch self {
        case .invalidPartName(let part): "the name of part \(part) is empty or contains a control character"
        case .invalidFileName(let part): "the file name of part \(part) contains a control character"
        case .invalidPartContentType(let part): "the content type of part \(part) is malformed"
        case .compressedPart(let part): "the body of part \(part) is compressed"
        case .partWithTrailers(let part): "the body of part \(part) has trailer fields"
        case .tooLong: "the body is too long"
        case .alreadySent: "the body, or a part of it, can be sent only once and has already been sent"
        }
    }
}
