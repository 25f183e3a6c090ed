import Testing

@testable import DirectJSON

@Suite("JSON")
struct JSONReaderTests {
    @Test(
        "Valid JSON is read as it is written",
        arguments: [
            ("null", "null"), (" true ", "true"), ("false", "false"), ("\"\"", "\"\""), ("[]", "[]"),
            ("{}", "{}"),
            ("0", "0"), ("-0", "-0"), ("9223372036854775808", "9223372036854775808"), ("1.50e+3", "1.50e+3"),
            ("[1, [2], {}]", "[1,[2],{}]"), ("{\"a\":1, \"b\" : [null]}", "{\"a\":1,\"b\":[null]}"),
            (#""\"\\\/\b\f\n\r\t""#, #""\"\\/\u0008\u000c\n\r\t""#), (#""\u00e9\u20AC""#, "\"é€\""),
            (#""\ud83d\ude00""#, "\"😀\""), (#""\u0000""#, #""\u0000""#), ("\"é€😀\"", "\"é€😀\""),
        ]
    )
    func valid(_ text: String, _ wanted: String) throws {
        #expect("\(try JSONReader.read(Array(text.utf8)))" == wanted)
    }

    @Test(
        "Invalid JSON is refused",
        arguments: [
            "", " ", "nul", "True", "truefalse", "1 2", "[1,]", "[,1]", "[1 2]", "[1", "]", "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}", "{a:1}", "{'a':1}", "{\"a\":1", "{1:2}", "01", "-", "+1", ".5", "1.", "1e", "1e+",
            "0x10",
            "NaN", "Infinity", "\"", "\"a", "'a'", #""\x""#, #""\u12""#, #""\u12g4""#, #""\ud800""#,
            #""\ud800a""#,
            #""\ud800\u0041""#, #""\udc00""#, "\"\t\"", "\"\n\"", "// note\n1", "1 // note", "\u{FEFF}1",
            "{\"a\":1,\"a\":2}", String(repeating: "[", count: 100_000),
        ]
    )
    func invalid(_ text: String) {
        #expect(throws: JSONError.self) { try JSONReader.read(Array(text.utf8)) }
    }

    @Test(
        "JSON must be UTF-8",
        arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]]
    )
    func encoding(_ bytes: [UInt8]) {
        #expect(throws: JSONError.self) { try JSONReader.read(bytes) }
    }

    @Test("Each value and each error has its line")
    func lines() throws {
        let value = try JSONReader.read(Array("[\n 1,\n\n {\"a\":\n 2}]".utf8))
        guard case .array(let elements) = value.content, case .object(let members) = elements[1].content
        else {
            Issue.record("\(value)")
            return
        }
        #expect([value.line, elements[0].line, elements[1].line, members[0].value.line] == [1, 2, 4, 5])
        #expect(throws: JSONError(line: 3, what: "expected a comma or a closing bracket")) {
            try JSONReader.read(Array("[1,\n2\n 3]".utf8))
        }
    }

    @Test("Of any number of names, each pair of equal ones is found", arguments: [2, 31, 32, 33, 34, 100])
    func duplicates(count: Int) throws {
        let members = (0..<count).map { "\"name\($0)\":\($0)" }
        let value = try JSONReader.read(Array("{\(members.joined(separator: ","))}".utf8))
        #expect("\(value)" == "{\(members.joined(separator: ","))}")
        for (first, second) in [(0, count - 1), (count / 2 - 1, count - 1), (0, 1)] {
            var members = members
            members[second] = members[first]
            let error = try #require(throws: JSONError.self) {
                try JSONReader.read(Array("{\(members.joined(separator: ","))}".utf8))
            }
            #expect(error.what == "\"name\(first)\" is a duplicate name")
        }
    }

    @Test("A string may change to escapes and other characters than ASCII anywhere")
    func strings() throws {
        let parts = ["plain", #"\n"#, "é", #"\u00e9"#, "x", ""]
        let meanings = ["plain", "\n", "é", "é", "x", ""]
        for first in parts.indices {
            for second in parts.indices {
                let value = try JSONReader.read(Array("[\"\(parts[first])\(parts[second])\"]".utf8))
                let text = JSONValue.string(meanings[first] + meanings[second])
                #expect("\(value)" == "\(JSONValue.array([text]))")
            }
        }
        for text in ["\"a\u{1F}\"", "\"é\u{1F}\"", "\"abc", "\"é", "\"a\\"] {
            #expect(throws: JSONError.self) { try JSONReader.read(Array(text.utf8)) }
        }
        #expect(throws: JSONError.self) { try JSONReader.read([0x22, 0x61, 0xFF, 0x22]) }
    }

    @Test(
        "An error quotes a name with its control characters escaped, and stays one line",
        arguments: [
            (#"{"a\n\u001b[2J":1,"a\n\u001b[2J":2}"#, "is a duplicate name"),
            (#"{"a\n\u001b[2J" 1}"#, "a colon is missing after"),
        ]
    )
    func nameInAnError(_ text: String, _ words: String) throws {
        let error = try #require(throws: JSONError.self) { try JSONReader.read(Array(text.utf8)) }
        #expect(error.what.contains(words) && error.what.contains(#""a\n\u001b[2J""#))
        #expect(error.what.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
    }

    @Test("Written JSON has no character that a terminal obeys")
    func controls() {
        #expect("\(JSONValue.string("\u{1B}[2J\u{7F}\u{9B}"))" == #""\u001b[2J\u007f\u009b""#)
    }
}
