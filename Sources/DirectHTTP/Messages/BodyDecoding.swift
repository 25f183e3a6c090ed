/// Whether and how a response's body was decoded.
@nonexhaustive
public enum BodyDecoding: Hashable, Sendable {
    /// The body has no content coding.
    case notNeeded
    /// The content is handed out as received, still coded as `Content-Encoding` says: the caller asked for
    /// that, the content is a part of a coded whole (206), or this build does not know the coding.
    case leftCoded
    /// The content is decoded. The numbers count the bytes received so far, and those handed out.
    case decoded(wireBytes: UInt64, decodedBytes: UInt64)
}

extension ResponseBody {
    /// The internal form of ``BodyDecoding``, for code that wraps bodies: it has the decoder instead of its
    /// numbers.
    enum Coding: Sendable {
        case none
        case left
        case undone(by: any DecodedByteCounts)
    }

    /// Whether the body is decoded, and how many bytes were received and handed out so far.
    public var decoding: BodyDecoding {
        switch coding {
        case .none: .notNeeded
        case .left: .leftCoded
        case .undone(let body): .decoded(wireBytes: body.wireBytes, decodedBytes: body.decodedBytes)
        }
    }
}

/// A body that is decoded while it is read.
protocol DecodedByteCounts: Sendable {
    /// The bytes received so far.
    var wireBytes: UInt64 { get }
    /// The bytes handed out so far.
    var decodedBytes: UInt64 { get }
}
