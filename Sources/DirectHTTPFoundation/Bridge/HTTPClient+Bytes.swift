public import DirectHTTP
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPClient {
    /// Sends a request and returns the bytes of its response as they arrive, as `URLSession.bytes(for:)`
    /// does.
    ///
    /// The call returns when the head has arrived. The body is not read ahead. Releasing the bytes ends the
    /// request.
    ///
    /// - Throws: Always a `URLError`, here and while the bytes are read; the ``HTTPError`` that caused it is
    ///   in its `httpError`.
    @concurrent
    public func bytes(for request: URLRequest) async throws -> (AsyncBytes, HTTPURLResponse) {
        let request = BridgedRequest(request, configuration)
        return try await request.perform(nil, with: self) { request, sent in
            let response = try await send(sent)
            return (AsyncBytes(body: response.body, request: request), try request.head(response))
        }
    }

    /// Returns the bytes at a URL as they arrive, as `URLSession.bytes(from:)` does.
    @concurrent
    public func bytes(from url: URL) async throws -> (AsyncBytes, HTTPURLResponse) {
        try await bytes(for: URLRequest(url: url))
    }

    /// The bytes of a body, one by one. They can be read once.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// A byte.
        public typealias Element = UInt8

        fileprivate let body: ResponseBody
        fileprivate let request: BridgedRequest

        /// The lines of the body as text. A line ends with LF, CR or CRLF. Bytes that are not UTF-8 are
        /// replaced with U+FFFD, and a byte order mark at the beginning is removed.
        public var lines: some AsyncSequence<String, any Error> & Sendable {
            BridgedElements(base: body.lines(upTo: .max), request: request)
        }

        /// Returns an iterator over the bytes, for the only pass.
        public func makeAsyncIterator() -> Iterator {
            Iterator(self)
        }

        /// Reads the bytes one by one.
        public struct Iterator: AsyncIteratorProtocol {
            private var pieces: BridgedElements<ResponseBody>.Iterator
            private var piece: [UInt8] = []
            private var position = 0

            fileprivate init(_ bytes: AsyncBytes) {
                pieces = BridgedElements(base: bytes.body, request: bytes.request).makeAsyncIterator()
            }

            /// Returns the next byte, or `nil` at the end of the body.
            ///
            /// - Throws: A `URLError` if the body could not be read to its end.
            public mutating func next() async throws -> UInt8? {
                while position == piece.count {
                    guard let next = try await pieces.next() else { return nil }
                    piece = next
                    position = 0
                }
                defer { position += 1 }
                return piece[position]
            }
        }
    }
}

/// The elements of a body, whose errors become those of Foundation.
private struct BridgedElements<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable {
    let base: Base
    let request: BridgedRequest

    func makeAsyncIterator() -> Iterator {
        Iterator(base: base.makeAsyncIterator(), request: request)
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: Base.AsyncIterator
        fileprivate let request: BridgedRequest

        mutating func next() async throws -> Base.Element? {
            do {
                return try await base.next(isolation: #isolation)
            } catch {
                throw request.asURLError(error)
            }
        }
    }
}
