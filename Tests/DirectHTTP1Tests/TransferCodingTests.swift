import DirectHTTP1
import Testing

@Suite("Transfer codings of responses")
struct TransferCodingTests {
    @Test(
        "Of all lists of transfer codings, in one field or several, chunked alone is read, and others as leniency says",
        arguments: [false, true]
    )
    func framing(isLenient: Bool) {
        for codings in Self.lists {
            for version in ["1.0", "1.1"] {
                for length in [nil, 5] {
                    let expected = Self.framing(codings, version, length: length, isLenient: isLenient)
                    for fields in Self.fields(codings) {
                        let head = Self.head("HTTP/\(version) 200 OK", fields, length: length)
                        #expect(Self.read(head, isLenient: isLenient)?.framing == expected, "\(head)")
                    }
                }
            }
        }
    }

    @Test(
        "Chunks that are cut off are never whole, whatever is listed beside chunked",
        arguments: [false, true]
    )
    func cut(isLenient: Bool) {
        for fields in Self.lists.filter({ $0.contains("chunked") }).flatMap(Self.fields) {
            let head = Self.head("HTTP/1.1 200 OK", fields, length: nil)
            for end in Self.chunks.indices {
                let read = Self.read(head, Self.chunks.prefix(upTo: end), isLenient: isLenient)
                #expect(read?.isWhole != true, "\(head), \(end)")
            }
        }
    }

    @Test(
        "A response without content has none, whatever coding is listed, and its connection is not used again",
        arguments: ["204 No Content", "304 Not Modified"]
    )
    func withoutContent(status: String) {
        for coding in ["identity", "gzip", "gzip, chunked", "chunked, identity"] {
            let head = Self.head("HTTP/1.1 \(status)", [coding], length: nil)
            let read = Self.read(head, isLenient: false)
            #expect(read?.framing == ResponseFraming.none)
            #expect(read?.reuse == .close(.doubtfulFraming))
        }
    }

    @Test(
        "Beside an empty element chunked is read, and the connection is not used again: recipients differ",
        arguments: ["chunked,", ", chunked", "chunked,,", " ,\t, chunked"]
    )
    func emptyElement(list: String) {
        let head = Self.head("HTTP/1.1 200 OK", [list], length: nil)
        let read = Self.read(head, Self.chunks[...], isLenient: false)
        #expect(read?.framing == .chunked && read?.isWhole == true)
        #expect(read?.reuse == .close(.doubtfulFraming))
    }

    private static let chunks = Array("5\r\nhello\r\n0\r\n\r\n".utf8)

    /// Every list of up to three of these codings, an empty element among them.
    private static let lists: [[String]] = {
        let codings = ["chunked", "identity", "gzip", ""].map { [$0] }
        let pairs = codings.flatMap { first in codings.map { first + $0 } }
        return codings + pairs + pairs.flatMap { pair in codings.map { pair + $0 } }
    }()

    /// The list as the values of one field, and of one for each coding.
    private static func fields(_ codings: [String]) -> [[String]] {
        // An empty field is malformed, and empty elements are not.
        codings.contains("")
            ? [[codings.joined(separator: ",")]] : [[codings.joined(separator: ", ")], codings]
    }

    private static func head(_ line: String, _ fields: [String], length: Int?) -> String {
        let codings = fields.map { "Transfer-Encoding: \($0)\r\n" }.joined()
        return "\(line)\r\n\(codings)\(length.map { "Content-Length: \($0)\r\n" } ?? "")\r\n"
    }

    /// What RFC 9112, section 6.3, makes of a list of codings for a client that sends no TE; `nil` for an
    /// error. The leniency is that of section 6.1, and that `identity` was no coding in RFC 2616, section
    /// 3.6.
    private static func framing(
        _ codings: [String],
        _ version: String,
        length: Int?,
        isLenient: Bool
    ) -> ResponseFraming? {
        let named = codings.filter { !$0.isEmpty }
        if named == ["chunked"], version == "1.1", length == nil { return .chunked }
        guard isLenient, !named.isEmpty else { return nil }
        let applied = named.drop { $0 == "identity" }
        guard applied.allSatisfy({ $0 == "chunked" }) else { return nil }
        if !applied.isEmpty { return .chunked }
        return length.map { .length(UInt64($0)) } ?? .untilClose
    }

    /// What the reader makes of the bytes and a clean end after them; `nil` if it refuses the head.
    private static func read(
        _ head: String,
        _ content: ArraySlice<UInt8> = [],
        isLenient: Bool
    ) -> (framing: ResponseFraming, isWhole: Bool, reuse: ReuseVerdict)? {
        var leniency = HTTP1Leniency()
        leniency.acceptsDoubtfulFraming = isLenient
        var reader = ResponseReader(leniency: leniency)
        reader.begin(.get)
        var rest = (Array(head.utf8) + content)[...]
        var isWhole = false
        do throws(HTTP1Error) {
            while case let used = try reader.next(rest.span).used, used > 0 { rest = rest.dropFirst(used) }
            if case .end = try reader.endOfInput(clean: true) { isWhole = true }
        } catch .truncatedHead, .truncatedChunks, .truncatedContent {
            isWhole = false
        } catch {
            return nil
        }
        return (reader.framing, isWhole, reader.reuse)
    }
}
