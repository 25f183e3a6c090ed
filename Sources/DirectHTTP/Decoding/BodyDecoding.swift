/// What became of the coding in which the server sent a body.
@nonexhaustive
public enum BodyDecoding: Hashable, Sendable {
    /// There was none to undo.
    case notNeeded
    /// The content is handed out as it came, and still coded as `Content-Encoding` says: the caller has asked for
    /// it so, it is a part of something coded, or nobody here knows the coding.
    case leftCoded
    /// The content is decoded. The numbers are of bytes that have come so far, and that have been handed out.
    case decoded(wireBytes: UInt64, decodedBytes: UInt64)
}

extension ResponseBody {
    /// The same for whoever wraps bodies: who decodes it, if anybody does.
    enum Coding: Sendable {
        case none
        case left
        case undone(by: DecodedBody)
    }

    /// Whether the body is decoded, and how many bytes that took so far.
    public var decoding: BodyDecoding {
        switch coding {
        case .none: .notNeeded
        case .left: .leftCoded
        case .undone(let body): .decoded(wireBytes: body.wireBytes, decodedBytes: body.decodedBytes)
        }
    }
}
