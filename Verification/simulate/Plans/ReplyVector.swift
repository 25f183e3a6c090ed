internal import DirectCore
internal import FoundationEssentials

/// A vector of Fixtures/vectors: the bytes of a response, and what a client has to make of them.
struct ReplyVector: Sendable {
    let name: String
    let method: String
    let bytes: [UInt8]
    /// Whether the stream then ends with less than the protocol asks for.
    let endsUncleanly: Bool
    let endsCleanly: Bool
    /// Whether the response is complete, and what is known of it then.
    let isComplete: Bool
    let status: UInt16?
    let content: [UInt8]?
    /// Whether the connection may serve another request.
    let mayBeReused: Bool
    /// The settings of the client that it is about.
    let limits: [String: Int]
    let leniency: [String]

    /// All vectors whose verdict holds for any client that has their settings, by name.
    static let all: [String: ReplyVector] = {
        let vectors =
            read("response", as: Response.self).compactMap(ReplyVector.init)
            + read("decoding", as: Decoding.self).compactMap(ReplyVector.init)
        return Dictionary(uniqueKeysWithValues: vectors.map { ($0.name, $0) })
    }()
    /// Those for any client with the usual settings, and those for clients with settings of their own.
    static let names = all.keys.filter { all[$0]?.isSpecial == false }.sorted()
    static let specialNames = all.keys.filter { all[$0]?.isSpecial == true }.sorted()
    var isSpecial: Bool { !limits.isEmpty || !leniency.isEmpty }

    static func read<Format: Decodable>(_ topic: String, as: Format.Type) -> [Format] {
        let folder = "Fixtures/vectors/\(topic)"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(".json") }.sorted().flatMap { file in
            let data = FileManager.default.contents(atPath: "\(folder)/\(file)") ?? Data()
            do { return try JSONDecoder().decode([Format].self, from: data) } catch {
                fatalError("\(folder)/\(file): \(error)")
            }
        }
    }

    /// A vector of the topic `response`, without what is not used here.
    private struct Response: Decodable {
        let name, input: String
        let method, close: String?
        let upgrade: Bool?
        let leniency: [String]?
        let limits: [String: Int]?
        let expect: Expectation

        struct Expectation: Decodable {
            let outcome: String
            let status: UInt16?
            let content, reuse: String?
            let leftover: Int?

            private enum CodingKeys: String, CodingKey { case outcome, status, content, reuse, leftover }

            /// Reads the result, or the first of several right ones, which is this package's.
            init(from decoder: any Decoder) throws {
                var list = try? decoder.unkeyedContainer()
                let members =
                    try list?.nestedContainer(keyedBy: CodingKeys.self)
                    ?? decoder.container(keyedBy: CodingKeys.self)
                outcome = try members.decode(String.self, forKey: .outcome)
                status = try members.decodeIfPresent(UInt16.self, forKey: .status)
                content = try members.decodeIfPresent(String.self, forKey: .content)
                reuse = try members.decodeIfPresent(String.self, forKey: .reuse)
                leftover = try members.decodeIfPresent(Int.self, forKey: .leftover)
            }
        }
    }

    /// A vector of the topic `decoding`. Those whose content is too long for one text are left out.
    private struct Decoding: Decodable {
        let name: String
        let encodings: [String]
        let isUsual: Bool
        let input, content: String?
        let isFault: Bool

        enum Members: CodingKey { case name, encodings, needs, limits, input, expect, content, fault }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Members.self)
            name = try members.decode(String.self, forKey: .name)
            encodings = try members.decode([String].self, forKey: .encodings)
            isUsual = !members.contains(.needs) && !members.contains(.limits)
            input = try? members.decode(String.self, forKey: .input)
            let expected = try members.nestedContainer(keyedBy: Members.self, forKey: .expect)
            content = try? expected.decode(String.self, forKey: .content)
            isFault = expected.contains(.fault)
        }
    }

    /// `nil` for a response that asks for another request, or whose verdict depends on more than its bytes.
    private init?(_ vector: Response) {
        let expect = vector.expect
        let others = [
            " 30", " 401", " 407", " 408", " 417", " 42", " 502", " 503", " 504", "oding: gzip", "ookie:",
        ]
        guard ["GET", "HEAD"].contains(vector.method ?? "GET"), vector.upgrade == nil,
            !["open", "tunnel"].contains(expect.outcome), expect.leftover ?? 0 == 0,
            !others.contains(where: vector.input.contains)
        else { return nil }
        (name, method) = (vector.name, vector.method ?? "GET")
        bytes = Self.latin(vector.input)
        (endsCleanly, endsUncleanly) = (vector.close == "clean", vector.close == "unclean")
        isComplete = expect.outcome == "end"
        (status, content) = (expect.status, expect.content.map(Self.latin))
        mayBeReused = isComplete && (expect.reuse ?? "reusable") == "reusable"
        (limits, leniency) = (vector.limits ?? [:], vector.leniency ?? [])
    }

    private init?(_ vector: Decoding) {
        guard vector.isUsual, let coded = vector.input.flatMap({ Hex.decode($0) }),
            vector.isFault || vector.content != nil
        else { return nil }
        (name, method) = (vector.name, "GET")
        let lines = vector.encodings.map { "Content-Encoding: \($0)\r\n" }.joined()
        bytes = Array("HTTP/1.1 200 OK\r\n\(lines)Content-Length: \(coded.count)\r\n\r\n".utf8) + coded
        (endsCleanly, endsUncleanly, status) = (false, false, 200)
        (isComplete, content) = (!vector.isFault, vector.content.map(Self.latin))
        mayBeReused = true
        (limits, leniency) = ([:], [])
    }

    static func latin(_ text: String) -> [UInt8] {
        text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }
}
