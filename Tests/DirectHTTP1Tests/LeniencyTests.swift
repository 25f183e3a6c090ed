import DirectHTTP1
import Testing

@Suite("Leniency of the response reader")
struct LeniencyTests {
    @Test("A head that is read without leniency is read the same with it, whatever Transfer-Encoding says")
    func neverStricter() {
        var lenient = HTTP1Leniency()
        lenient.acceptsDoubtfulFraming = true
        for head in Self.heads {
            for body in ["hello", "5\r\nhello\r\n0\r\n\r\n"] {
                let input = Array((head + "\r\n" + body).utf8)
                guard let strict = Self.read(input, HTTP1Leniency()) else { continue }
                #expect(Self.read(input, lenient) == strict, "\(head)")
            }
        }
    }

    /// Every list of up to three codings, with and without a length, in both versions.
    private static var heads: [String] {
        let codings = ["chunked", "identity", "other"]
        let pairs = codings.flatMap { first in codings.map { "\(first), \($0)" } }
        let triples = pairs.flatMap { pair in codings.map { "\(pair), \($0)" } }
        return (codings + pairs + triples).flatMap { list in
            ["1.0", "1.1"].flatMap { version in
                ["", "Content-Length: 5\r\n"].map {
                    "HTTP/\(version) 200 OK\r\nTransfer-Encoding: \(list)\r\n\($0)"
                }
            }
        }
    }

    /// The content, or nil where the response is refused or not complete.
    private static func read(_ input: [UInt8], _ leniency: HTTP1Leniency) -> [UInt8]? {
        var reader = ResponseReader(leniency: leniency)
        reader.begin(.get)
        var content: [UInt8] = []
        var rest = input[...]
        do throws(HTTP1Error) {
            while true {
                let step = try reader.next(rest.span)
                let used = rest.prefix(step.used)
                rest = rest.dropFirst(step.used)
                switch step.event {
                case .content(let range): content += Array(used)[range]
                case .needsMore:
                    _ = try reader.endOfInput(clean: true)
                    return content
                case .end: return content
                case .head, .interim, .trailers: break
                }
            }
        } catch {
            return nil
        }
    }
}

@Suite("Chunk extensions")
struct ChunkExtensionTests {
    private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test(
        "An extension without a name, a value or a closing quote is refused",
        arguments: [
            ";", ";;a", ";a;", ";=b", ";a=", ";a=;b", ";a=\"x", ";a=\"x\\\"", ";a=\"x\"y", ";a=b ", ";a b",
            ";a=b=c",
        ],
        [HTTP1Leniency(), .bareLineFeedsInChunks]
    )
    func malformed(text: String, leniency: HTTP1Leniency) {
        #expect(throws: HTTP1Error.invalidChunkExtension) {
            try Self.read("2\(text)\r\nok\r\n0\r\n\r\n", leniency)
        }
        #expect(throws: HTTP1Error.invalidChunkExtension) {
            try Self.read("2\r\nok\r\n0\(text)\r\n\r\n", leniency)
        }
    }

    @Test(
        "A well-formed extension is ignored",
        arguments: [
            ";a", ";a=b", " ; a = b", ";a=\"\"", ";a=\";\\\"\\\\\"", ";a=\"\té\";b", "\t;\ta\t;b=\"c\" ;d",
        ]
    )
    func wellFormed(text: String) throws {
        try Self.read("2\(text)\r\nok\r\n0\(text)\r\n\r\n", HTTP1Leniency())
    }

    /// Reads byte by byte.
    private static func read(_ chunks: String, _ leniency: HTTP1Leniency) throws {
        var reader = ResponseReader(leniency: leniency)
        reader.begin(.get)
        var rest: [UInt8] = []
        for byte in Array((head + chunks).utf8) {
            rest.append(byte)
            try Self.step(&reader, &rest)
        }
        #expect(reader.reuse == .reusable)
    }

    private static func step(_ reader: inout ResponseReader, _ rest: inout [UInt8]) throws {
        while !rest.isEmpty {
            let input = rest[...]
            let used = try reader.next(input.span).used
            guard used > 0 else { return }
            rest.removeFirst(used)
        }
    }
}

@Suite("Blanks after chunk sizes")
struct ChunkBlankTests {
    @Test(
        "Blanks after a chunk size are read with leniency alone, and end the connection",
        arguments: [" ", "   ", "\t", " \t "]
    )
    func blanks(text: String) throws {
        let chunks = "2\(text)\r\nok\r\n0\r\n\r\n"
        #expect(throws: HTTP1Error.invalidChunkSize) { try Self.read(chunks, HTTP1Leniency()) }
        #expect(throws: HTTP1Error.invalidChunkSize) { try Self.read(chunks, .bareLineFeedsInChunks) }
        #expect(try Self.read(chunks, .blanksAfterChunkSizes) == .close(.doubtfulFraming))
        #expect(try Self.read("2\(text);a\r\nok\r\n0\r\n\r\n", .blanksAfterChunkSizes) == .reusable)
    }

    private static func read(_ chunks: String, _ leniency: HTTP1Leniency) throws -> ReuseVerdict {
        var reader = ResponseReader(leniency: leniency)
        reader.begin(.get)
        let input = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)".utf8)
        var rest = input[...]
        while !rest.isEmpty { rest = rest.dropFirst(try reader.next(rest.span).used) }
        return reader.reuse
    }
}

extension HTTP1Leniency {
    fileprivate static var bareLineFeedsInChunks: HTTP1Leniency {
        var leniency = HTTP1Leniency()
        leniency.acceptsBareLineFeedsInChunks = true
        return leniency
    }

    fileprivate static var blanksAfterChunkSizes: HTTP1Leniency {
        var leniency = HTTP1Leniency()
        leniency.acceptsWhitespaceAfterChunkSizes = true
        return leniency
    }
}
