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

        /// The lines of the body as text, without their line ends.
        public var lines: AsyncLines { AsyncLines(bytes: self) }

        /// Returns an iterator over the bytes, for the only pass.
        public func makeAsyncIterator() -> Iterator {
            Iterator(self)
        }

        /// Reads the bytes one by one.
        public struct Iterator: AsyncIteratorProtocol {
            private var pieces: ResponseBody.Iterator
            private let request: BridgedRequest
            private var piece: [UInt8] = []
            private var position = 0

            fileprivate init(_ bytes: AsyncBytes) {
                pieces = bytes.body.makeAsyncIterator()
                request = bytes.request
            }

            /// Returns the next byte, or `nil` at the end of the body.
            ///
            /// - Throws: A `URLError` if the body could not be read to its end.
            public mutating func next() async throws -> UInt8? {
                while position == piece.count {
                    guard let next = try await nextPiece() else { return nil }
                    piece = next
                    position = 0
                }
                defer { position += 1 }
                return piece[position]
            }

            private mutating func nextPiece() async throws -> [UInt8]? {
                do {
                    return try await pieces.next()
                } catch {
                    throw request.asURLError(error)
                }
            }
        }
    }

    /// The lines of a body. A line ends with LF, CR or CRLF. Bytes that are not UTF-8 are replaced with
    /// U+FFFD.
    public struct AsyncLines: AsyncSequence, Sendable {
        /// A line without its end.
        public typealias Element = String

        fileprivate let bytes: AsyncBytes

        /// Returns an iterator over the lines, for the only pass.
        public func makeAsyncIterator() -> Iterator {
            Iterator(bytes.makeAsyncIterator())
        }

        /// Reads the lines one by one.
        public struct Iterator: AsyncIteratorProtocol {
            private var bytes: AsyncBytes.Iterator
            private var lastWasCarriageReturn = false

            fileprivate init(_ bytes: AsyncBytes.Iterator) {
                self.bytes = bytes
            }

            /// Returns the next line, or `nil` at the end of the body. A last line without a line end counts
            /// as a line.
            ///
            /// - Throws: A `URLError` if the body could not be read to its end.
            public mutating func next() async throws -> String? {
                var line: [UInt8] = []
                while let byte = try await bytes.next() {
                    let isRest = lastWasCarriageReturn && byte == 0x0A
                    lastWasCarriageReturn = byte == 0x0D
                    if isRest { continue }
                    if byte == 0x0A || byte == 0x0D { return String(decoding: line, as: UTF8.self) }
                    line.append(byte)
                }
                return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
            }
        }
    }
}
