public import DirectHTTP

/// A part of a multipart body.
public struct MultipartPart: Sendable {
    /// The header fields of the part.
    public let headers: HTTPHeaders
    /// Its content.
    public let body: [UInt8]

    /// The name of a form's field (RFC 7578): the parameter `name` of `Content-Disposition`.
    public var name: String? { disposition("name") }

    /// The name of a form's file. It comes from elsewhere: it may be a path, or name a device.
    public var fileName: String? { disposition("filename") }

    private func disposition(_ name: String) -> String? {
        guard let value = headers["Content-Disposition"] else { return nil }
        var reader = FieldScanner(value.utf8)
        _ = reader.read { $0 != UInt8(ascii: ";") }
        return reader.parameters()[name]
    }
}

extension HTTPClient.Response {
    /// The parts of a body of the type `multipart/…` (RFC 2046, section 5.1), such as `mixed`, `form-data` or
    /// `byteranges`, each as soon as it has arrived whole. It can be read once, like the body.
    ///
    /// Bytes before the first delimiter are skipped, and those behind the last one are given up. A part that
    /// is itself multipart is delivered as bytes.
    ///
    /// - Parameters:
    ///   - limit: The number of bytes of a part, its header fields included, and of the text before the
    ///     first.
    ///   - count: The number of parts.
    /// - Throws: ``MultipartError/notMultipart`` for another type, or an invalid boundary. The sequence
    ///   throws ``MultipartError`` for a body that breaks the rules, and the errors of the body.
    public func parts(
        upTo limit: Int = 1 << 20,
        count: Int = 1000
    ) throws(MultipartError) -> some AsyncSequence<MultipartPart, any Error> & Sendable {
        guard let type = headers.values(for: "Content-Type").last else { throw .notMultipart }
        var reader = FieldScanner(type.utf8)
        let essence = reader.read { $0 != UInt8(ascii: ";") }.lowercased()
        guard essence.hasPrefix("multipart/"), let boundary = reader.parameters()["boundary"],
            MultipartParser.isBoundary(boundary)
        else { throw .notMultipart }
        return MultipartParts(body: body, boundary: boundary, limit: limit, count: count)
    }
}

/// The reason why the parts of a body cannot be read.
@nonexhaustive
public enum MultipartError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The type is not `multipart/…`, or has no valid boundary.
    case notMultipart
    /// A part, or the text before the first, is larger than the limit.
    case partTooLarge(limit: Int)
    /// There are more parts than the limit.
    case tooManyParts(limit: Int)
    /// The header fields of a part are malformed, or have more than 100 lines.
    case badFields
    /// The body ends without its last delimiter: parts may be missing.
    case truncated

    /// The reason.
    public var description: String {
        switch self {
        case .notMultipart: "the body is not multipart, or its boundary is invalid"
        case .partTooLarge(let limit): "a part of the body is larger than \(limit) bytes"
        case .tooManyParts(let limit): "the body has more than \(limit) parts"
        case .badFields: "the header fields of a part are malformed"
        case .truncated: "the body ends without its last delimiter"
        }
    }
}

private struct MultipartParts: AsyncSequence, Sendable {
    let body: ResponseBody
    let boundary: String
    let limit: Int
    let count: Int

    func makeAsyncIterator() -> Iterator {
        Iterator(
            body: body,
            pieces: body.makeAsyncIterator(),
            parser: MultipartParser(boundary: boundary, limit: limit),
            limit: count
        )
    }

    struct Iterator: AsyncIteratorProtocol {
        let body: ResponseBody
        var pieces: ResponseBody.AsyncIterator
        var parser: MultipartParser
        let limit: Int
        var count = 0
        var isAtEnd = false

        mutating func next() async throws -> MultipartPart? {
            guard !isAtEnd else { return nil }
            isAtEnd = true
            let part: MultipartPart?
            do {
                part = try await nextPart()
            } catch {
                await body.drain()
                throw error
            }
            // A program that keeps the response must not keep its connection as well.
            if part == nil { await body.drain() }
            isAtEnd = part == nil
            return part
        }

        private mutating func nextPart() async throws -> MultipartPart? {
            while true {
                switch try parser.step() {
                case .part(let part):
                    count += 1
                    guard count <= limit else { throw MultipartError.tooManyParts(limit: limit) }
                    return part
                case .end: return nil
                case .needsMore:
                    guard let piece = try await pieces.next() else { throw MultipartError.truncated }
                    parser.append(piece)
                }
            }
        }
    }
}
