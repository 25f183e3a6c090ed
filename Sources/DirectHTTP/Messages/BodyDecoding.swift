internal import Synchronization

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
    /// The internal form of ``BodyDecoding``, for code that wraps bodies: it has the numbers as they grow.
    enum Coding: Sendable {
        case none
        case left
        case undone(DecodingCounts)
    }

    /// Whether the body is decoded, and how many bytes were received and handed out so far.
    public var decoding: BodyDecoding {
        switch coding {
        case .none: .notNeeded
        case .left: .leftCoded
        case .undone(let counts):
            .decoded(
                wireBytes: counts.wire.load(ordering: .relaxed),
                decodedBytes: counts.decoded.load(ordering: .relaxed)
            )
        }
    }

    /// The bytes of a body that is decoded while it is read, for any task to look at.
    final class DecodingCounts: Sendable {
        /// The bytes received so far.
        let wire = Atomic<UInt64>(0)
        /// The bytes handed out so far.
        let decoded = Atomic<UInt64>(0)
    }
}
