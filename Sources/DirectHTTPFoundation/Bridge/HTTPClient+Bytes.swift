public import DirectHTTP
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPClient {
    /// Sends a request and hands out the bytes of its answer as they come, as `URLSession.bytes(for:)` does.
    ///
    /// It returns when the head is there. Nothing is read ahead; letting go of the bytes ends the request.
    @concurrent
    public func bytes(for request: URLRequest) async throws -> (AsyncBytes, HTTPURLResponse) {
        let request = BridgedRequest(request, settings)
        return try await request.perform(nil) { request, sent in
            let response = try await send(sent)
            return (AsyncBytes(body: response.body, request: request), try request.head(response))
        }
    }

    /// Hands out the bytes at the URL as they come, as `URLSession.bytes(from:)` does.
    @concurrent
    public func bytes(from url: URL) async throws -> (AsyncBytes, HTTPURLResponse) {
        try await bytes(for: URLRequest(url: url))
    }

    /// The bytes of a body, one by one; they can be read once.
    public struct AsyncBytes: AsyncSequence, Sendable {
        public typealias Element = UInt8

        fileprivate let body: ResponseBody
        fileprivate let request: BridgedRequest

        /// The lines of the body as text, without their ends.
        public var lines: AsyncLines { AsyncLines(bytes: self) }

        public func makeAsyncIterator() -> Iterator {
            Iterator(self)
        }

        /// Hands out the bytes.
        public struct Iterator: AsyncIteratorProtocol {
            private var pieces: ResponseBody.Iterator
            private let request: BridgedRequest
            private var piece: [UInt8] = []
            private var position = 0

            fileprivate init(_ bytes: AsyncBytes) {
                pieces = bytes.body.makeAsyncIterator()
                request = bytes.request
            }

            /// The next byte; nothing at the end.
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

    /// The lines of a body. A line ends at LF, CR, or both together; what is not UTF-8 is replaced.
    public struct AsyncLines: AsyncSequence, Sendable {
        public typealias Element = String

        fileprivate let bytes: AsyncBytes

        public func makeAsyncIterator() -> Iterator {
            Iterator(bytes.makeAsyncIterator())
        }

        /// Hands out the lines.
        public struct Iterator: AsyncIteratorProtocol {
            private var bytes: AsyncBytes.Iterator
            private var lastWasCarriageReturn = false

            fileprivate init(_ bytes: AsyncBytes.Iterator) {
                self.bytes = bytes
            }

            /// The next line; nothing at the end. A last line without an end counts.
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
