public import DirectHTTP1
package import DirectTransport
internal import Synchronization

/// The body of a response: an asynchronous sequence of pieces of bytes.
///
/// Nothing is read ahead, so a slow reader slows down the server. The body can be read once, by one task.
/// Releasing it before its end closes the connection, unless the rest is small and arrives soon.
public struct ResponseBody: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = [UInt8]

    package enum Storage: Sendable {
        /// The whole body arrived together with the head.
        case complete([UInt8], HTTPHeaders, ConnectionFacts?)
        /// The body is still to be read from its source.
        case arriving(GuardedBody)
    }

    package var content: Storage
    var coding = Coding.none
    /// The request, for errors; `nil` until the caller gets the response.
    var request: RequestLine?

    /// Returns an iterator over the pieces, a `ResponseBody.AsyncIterator`.
    public func makeAsyncIterator() -> some AsyncIteratorProtocol<[UInt8], any Error> & Sendable {
        Pieces(content, request)
    }

    /// Returns the whole body.
    ///
    /// - Throws: ``HTTPError``, with ``HTTPError/Reason/bodyTooLarge(limit:)`` if the body is larger than
    ///   `limit`.
    @concurrent
    public func collect(upTo limit: Int) async throws -> [UInt8] {
        if let bytes = try completeBytes(upTo: limit) { return bytes }
        guard case .arriving(let body) = content else { return [] }
        do {
            return try await body.collect(upTo: limit)
        } catch let error as HTTPError {
            throw error.about(request)
        }
    }

    /// Returns the beginning of the body, at most so many bytes, and gives up the rest. A body that fails
    /// ends there.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func beginning(upTo limit: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        var iterator = makeAsyncIterator()
        do {
            while bytes.count < limit, let piece = try await iterator.next() {
                bytes += piece.prefix(limit - bytes.count)
            }
        } catch {
            if Task.isCancelled { throw CancellationError() }
        }
        await drain()
        return bytes
    }

    /// Returns the whole body if it arrived together with the head and is not larger than `limit`; else
    /// `nil`.
    func shortBytes(upTo limit: Int) -> [UInt8]? {
        if case .complete(let bytes, _, _) = content, bytes.count <= limit { bytes } else { nil }
    }

    /// Returns the whole body if it arrived together with the head; else `nil`.
    package func completeBytes(upTo limit: Int) throws(HTTPError) -> [UInt8]? {
        guard case .complete(let bytes, _, let facts) = content else { return nil }
        guard bytes.count <= limit else {
            throw BodyLocation(facts).error(.bodyTooLarge(limit: limit)).about(request)
        }
        return bytes
    }

    /// Returns an error of this body, with its request, name and endpoint as far as they are known.
    @inline(never)
    func error(_ reason: HTTPError.Reason) -> HTTPError {
        switch content {
        case .complete(_, _, let facts): BodyLocation(facts).error(reason).about(request)
        case .arriving(let body): body.location.error(reason).about(request)
        }
    }

    /// Reads and discards the rest if it is small and arrives soon, so that the connection can be reused;
    /// closes the connection otherwise. Releasing the body does the same without waiting.
    package func drain() async {
        if case .arriving(let body) = content { await body.drain() }
    }

    /// Returns the body for a caller: readable once even if it arrived together with the head, so that all
    /// bodies behave the same, and with the request for its errors.
    func delivered(for request: RequestLine) -> ResponseBody {
        var body = self
        body.request = request
        body.content = .arriving(guarded)
        return body
    }

    /// The body with the guard that lets it be read once.
    var guarded: GuardedBody {
        switch content {
        case .complete(let bytes, let trailers, let facts):
            GuardedBody(whole: bytes, trailers, BodyLocation(facts))
        case .arriving(let body): body
        }
    }

    /// The trailer fields of a body sent in chunks; complete once the body has been read to its end.
    public var trailers: HTTPHeaders {
        switch content {
        case .complete(_, let trailers, _): trailers
        case .arriving(let body): body.trailers
        }
    }

    private struct Pieces: AsyncIteratorProtocol, Sendable {
        private var content: Storage?
        private let request: RequestLine?

        fileprivate init(_ content: Storage, _ request: RequestLine?) {
            self.content = content
            self.request = request
        }

        /// Returns the next piece, which is never empty; `nil` at the end.
        @concurrent
        mutating func next() async throws -> [UInt8]? {
            switch content {
            case .none: return nil
            case .complete(let bytes, _, _):
                content = nil
                return bytes.isEmpty ? nil : bytes
            case .arriving(let body):
                do {
                    if let piece = try await body.next() { return piece }
                } catch let error as HTTPError {
                    throw error.about(request)
                }
                content = nil
                return nil
            }
        }
    }
}

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
