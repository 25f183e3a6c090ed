import Testing

@testable import DirectTLS

@Suite("Key pins")
struct KeyPinsTests {
    static let text = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    @Test("A pin is read strictly, and written as it was read")
    func reading() throws {
        let pin = try KeyPin(Self.text)
        #expect(pin.sha256 == Array(0...31))
        #expect(pin.description == Self.text)
        #expect(KeyPin(sha256: Array(0...31)) == pin)
        #expect(KeyPin(sha256: [1, 2, 3]) == nil)
    }

    static let digits = text.dropFirst(7)
    static let misreadings: [String] = [
        "",
        "sha256/",
        "sha1/\(digits)",
        "SHA256/\(digits)",
        "sha256//\(digits)",
        "sha256/\(digits.dropFirst())",
        "sha256/\(digits.dropLast())",
        "sha256/\(digits.dropLast(2))==",
        "sha256/\(digits.dropLast(2))-=",
        "\(text)=",
        " \(text)",
        "\(text)\n",
        // Bits behind the last byte that are not zero: another spelling of the same hash.
        "sha256/\(digits.dropLast(2))9=",
    ]

    @Test("A text that only resembles a pin is refused", arguments: misreadings)
    func strictness(text: String) {
        #expect(throws: KeyPinError.badPin) { try KeyPin(text) }
    }

    static let matches: [(pattern: String, name: String, fits: Bool)] = [
        ("a.test", "a.test", true),
        ("A.Test.", "a.test", true),
        ("a.test", "b.a.test", false),
        ("*.a.test", "b.a.test", true),
        ("*.a.test", "c.b.a.test", false),
        ("*.a.test", "a.test", false),
        ("*.A.test.", "b.a.test", true),
        ("**.a.test", "a.test", true),
        ("**.a.test", "b.a.test", true),
        ("**.a.test", "c.b.a.test", true),
        ("**.a.test", "evila.test", false),
        ("*.a.test", "evila.test", false),
    ]

    @Test("A pattern is an exact name, one label below, or all below", arguments: matches)
    func patterns(pattern: String, name: String, fits: Bool) throws {
        let pins = try KeyPins([pattern: [Self.text]])
        let demanded = try pins.pins(of: .name(name))?.demanded
        #expect((demanded != nil) == fits)
    }

    @Test("An address is pinned as an address, in any spelling")
    func addresses() throws {
        let pins = try KeyPins(["2001:DB8:0::1": [Self.text], "203.0.113.7": [Self.text]])
        #expect(try pins.pins(of: .address("2001:db8::1"))?.demanded != nil)
        #expect(try pins.pins(of: .address("203.0.113.7"))?.demanded != nil)
        #expect(try pins.pins(of: .address("203.0.113.8")) == nil)
    }

    @Test(
        "Other patterns are refused",
        arguments: ["", "*", "**", "*.", "a.*.test", "*a.test", "a..test", "***.a.test"]
    )
    func badPatterns(pattern: String) {
        #expect(throws: KeyPinError.badPattern(pattern)) { try KeyPins([pattern: [Self.text]]) }
    }

    @Test("A pattern needs pins")
    func noPins() {
        #expect(throws: KeyPinError.noPins("a.test")) { try KeyPins(["a.test": []]) }
    }

    @Test("The pins of all matching patterns count together")
    func union() throws {
        let other = "sha256/" + String(repeating: "A", count: 43) + "="
        let pins = try KeyPins(["a.test": [Self.text], "**.test": [other]])
        #expect(try pins.pins(of: .name("a.test"))?.demanded?.count == 2)
        #expect(try pins.pins(of: .name("b.test"))?.demanded?.count == 1)
        #expect(try pins.pins(of: .name("a.test"))?.watched == nil)
    }
}
