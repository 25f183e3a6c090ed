internal import DirectCore
internal import DirectJSON
internal import FoundationEssentials

/// A vector of Fixtures/vectors: the bytes of a response, and what a client has to make of them.
struct ReplyVector: Sendable {
    let name: String
    let method: String
    let bytes: [UInt8]
    /// Whether the stream then ends with less than the protocol asks for.
    let endsUncleanly: Bool
    let endsCleanly: Bool
    var endsConnection: Bool { endsCleanly || endsUncleanly }
    /// Whether the response is complete, and what is known of it then.
    let isComplete: Bool
    let status: UInt16?
    let content: [UInt8]?
    /// Whether the connection may serve another request.
    let mayBeReused: Bool

    /// All vectors whose verdict holds for any client with the usual settings, by name.
    static let all: [String: ReplyVector] = {
        let vectors =
            read("response").compactMap { ReplyVector(response: $0) }
            + read("decoding").compactMap { ReplyVector(decoding: $0) }
        return Dictionary(uniqueKeysWithValues: vectors.map { ($0.name, $0) })
    }()
    static let names = all.keys.sorted()

    private static func read(_ topic: String) -> [JSON] {
        let folder = "Fixtures/vectors/\(topic)"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(".json") }.sorted().flatMap { file in
            let data = FileManager.default.contents(atPath: "\(folder)/\(file)") ?? Data()
            do { return JSON(try JSONReader.read(Array(data))).list } catch {
                fatalError("\(folder)/\(file): \(error)")
            }
        }
    }

    /// `nil` for a response that asks for another request, or whose verdict depends on more than its bytes.
    private init?(response vector: JSON) {
        // The result, or the first of several right ones, which is this package's.
        let expect = vector.expect.list.first ?? vector.expect
        let (outcome, input) = (expect.outcome.text ?? "", vector.input.text ?? "")
        let others = [
            " 30", " 401", " 407", " 408", " 417", " 42", " 502", " 503", " 504", "oding: gzip", "ookie:",
        ]
        (name, method) = (vector.name.text ?? "", vector.method.text ?? "GET")
        guard ["GET", "HEAD"].contains(method), vector.upgrade == .null,
            vector.limits.members.isEmpty, vector.leniency.list.isEmpty,
            !["open", "tunnel"].contains(outcome),
            expect.leftover.number ?? 0 == 0, !others.contains(where: input.contains)
        else { return nil }
        bytes = Self.latin(input)
        (endsCleanly, endsUncleanly) = (vector.close.text == "clean", vector.close.text == "unclean")
        isComplete = outcome == "end"
        (status, content) = (expect.status.number.map { UInt16($0) }, expect.content.text.map(Self.latin))
        mayBeReused = isComplete && (expect.reuse.text ?? "reusable") == "reusable"
    }

    /// `nil` for content that is too long for one text, or that another library decodes.
    private init?(decoding vector: JSON) {
        let (expect, fields) = (vector.expect, vector.encodings.texts)
        guard vector.needs == .null, vector.limits == .null, let input = vector.input.text,
            let coded = Hex.decode(input), expect.fault != .null || expect.content.text != nil
        else { return nil }
        (name, method) = (vector.name.text ?? "", "GET")
        let lines = fields.map { "Content-Encoding: \($0)\r\n" }.joined()
        bytes = Array("HTTP/1.1 200 OK\r\n\(lines)Content-Length: \(coded.count)\r\n\r\n".utf8) + coded
        (endsCleanly, endsUncleanly, status) = (false, false, 200)
        (isComplete, content) = (expect.fault == .null, expect.content.text.map(Self.latin))
        mayBeReused = true
    }

    private static func latin(_ text: String) -> [UInt8] {
        text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }
}
