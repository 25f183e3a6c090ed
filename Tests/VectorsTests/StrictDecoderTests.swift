import DirectJSON
import Testing

@testable import tls_fixtures

@Suite("The strict decoder")
struct StrictDecoderTests {
    private enum Colour: String, Choice {
        case red, green
    }

    private enum Seven: Fallback { static let value = 7 }

    private struct Inner: Checked {
        let low: Int
        let high: Int?

        var fault: String? { high.map { $0 < low } == true ? "the high one is lower" : nil }
    }

    private struct Outer: Decodable {
        var text: String?
        var flag: Bool?
        var byte: UInt8?
        var fraction: Double?
        var bytes: [UInt8]?
        var colour: Colour?
        var inner: Inner?
        var inners: [Inner]?
        var word: String??
        @Or<Seven> var seven: Int
        @OrEmpty var words: [String]
        @Pairs var fields: [(name: String, value: String?)]
    }

    /// A type that has the members of two types.
    private struct Both: Decodable {
        let first: First
        let second: Int

        struct First: Inlined {
            let one: String
            @OrNull var two: String?
        }
    }

    private func read<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) throws -> Value {
        try StrictDecoder.decode(from: try JSONReader.read(Array(text.utf8)))
    }

    @Test(
        "An error says the line, the members that lead to it, and what is wrong",
        arguments: [
            ("{\n\"size\": 1}", #"line 2: there is no field "size""#),
            ("{\"inner\":\n{\"low\": 1,\n\"size\": 1}}", #"line 3: inner: there is no field "size""#),
            ("{\"inner\":\n{}}", #"line 2: inner: the field "low" is missing"#),
            ("{\"inners\": [{\"low\": 1},\n{}]}", #"line 2: inners: the field "low" is missing"#),
            ("[]", "line 1: expected an object, found an array"),
            (#"{"inner": 1}"#, "line 1: inner: expected an object, found a number"),
            (#"{"inners": {}}"#, "line 1: inners: expected an array, found an object"),
            ("{\"text\":\n1}", "line 2: text: expected a string, found a number"),
            (#"{"text": null}"#, "line 1: text: expected a string, found null"),
            (#"{"flag": "true"}"#, "line 1: flag: expected true or false, found a string"),
            (#"{"byte": 256}"#, "line 1: byte: expected a whole number from 0 to 255, found a number"),
            (#"{"byte": -1}"#, "line 1: byte: expected a whole number from 0 to 255, found a number"),
            (#"{"byte": 1.0}"#, "line 1: byte: expected a whole number from 0 to 255, found a number"),
            (#"{"byte": "1"}"#, "line 1: byte: expected a whole number from 0 to 255, found a string"),
            (#"{"fraction": 1.5}"#, "line 1: fraction: the program cannot read this type of value"),
            ("{\"bytes\":\n\"\u{100}\"}", "line 2: bytes: U+100 is not a byte"),
            (#"{"bytes": [1]}"#, "line 1: bytes: expected a string, found an array"),
            (#"{"colour": "blue"}"#, #"line 1: colour: "blue" is not one of red, green"#),
            ("{\"inner\":\n{\"low\": 2, \"high\": 1}}", "line 2: inner: the high one is lower"),
            (#"{"word": 1}"#, "line 1: word: expected a string, found a number"),
            (#"{"seven": true}"#, "seven: expected a whole number from"),
            (#"{"seven": null}"#, "seven: expected a whole number from"),
            ("{\"words\": [\"a\",\n2]}", "line 2: words: expected a string, found a number"),
            (
                #"{"fields": [["a"]]}"#,
                "line 1: fields: expected an array of names and values, found an array"
            ),
            (
                "{\"fields\": [[\"a\", null], [\"b\",\n1]]}",
                "line 2: fields: expected a string, found a number"
            ),
            (#"{"text": "a", "text": "b"}"#, #"line 1: "text" is a duplicate name"#),
        ]
    )
    func faults(_ text: String, _ wanted: String) throws {
        let error = #expect(throws: (any Error).self) { try read(text, as: Outer.self) }
        #expect(error.map { "\($0)" }?.contains(wanted) == true, "\(error.map { "\($0)" } ?? "none")")
    }

    @Test("A member that is absent is not the same as null, and may have a value")
    func absence() throws {
        let absent: Outer = try read("{}")
        #expect(absent.text == nil && absent.bytes == nil && absent.inner == nil)
        #expect(absent.word == .none && absent.seven == 7 && absent.words == [] && absent.fields.isEmpty)
        let null: Outer = try read(#"{"word": null}"#)
        #expect(null.word == .some(nil))
        let given: Outer = try read(#"{"word": "a", "seven": 8, "words": ["b"], "fields": [["c", null]]}"#)
        #expect(given.word == "a" && given.seven == 8 && given.words == ["b"])
        #expect(given.fields.map(\.name) == ["c"] && given.fields.map(\.value) == [nil])
    }

    @Test("Each kind of value is read")
    func values() throws {
        let outer: Outer = try read(
            #"{"text": "a", "flag": true, "byte": 255, "bytes": "\u00ff", "colour": "red"}"#
        )
        #expect(outer.text == "a" && outer.flag == true && outer.byte == 255 && outer.bytes == [0xFF])
        #expect(outer.colour == .red)
    }

    @Test("A type may have its members in the object of another, which knows them all")
    func inlined() throws {
        let both: Both = try read(#"{"second": 2, "two": null, "one": "1"}"#)
        #expect(both.first.one == "1" && both.first.two == nil && both.second == 2)
        for (text, wanted) in [
            (#"{"second": 2, "one": "1"}"#, #"the field "two" is missing"#),
            (#"{"second": 2, "one": 1, "two": "2"}"#, "one: expected a string, found a number"),
            (#"{"second": 2, "one": "1", "two": "2", "three": 3}"#, #"there is no field "three""#),
            (#"{"second": 2, "first": {"one": "1", "two": "2"}}"#, #"the field "one" is missing"#),
        ] {
            let error = #expect(throws: FieldError.self) { try read(text, as: Both.self) }
            #expect(error?.what == wanted)
        }
    }

    /// Asks for the containers that the decoder does not have.
    private struct Nesting: Decodable {
        enum Key: CodingKey { case a }

        init(from decoder: any Decoder) throws {
            _ = try decoder.container(keyedBy: Key.self).nestedContainer(keyedBy: Key.self, forKey: .a)
        }
    }

    @Test(
        "A type that asks for containers in containers is refused, since their members could not be checked"
    )
    func nesting() {
        let error = #expect(throws: FieldError.self) { try read(#"{"a": {}}"#, as: Nesting.self) }
        #expect(error?.what == "the program cannot read this type of value")
    }
}
