import DirectCore
import Testing

@Suite("Base64 and hexadecimal digits")
struct TextEncodingTests {
    /// RFC 4648, section 10.
    private static let vectors = [
        ("", "", ""), ("f", "Zg==", "66"), ("fo", "Zm8=", "666f"), ("foo", "Zm9v", "666f6f"),
        ("foob", "Zm9vYg==", "666f6f62"), ("fooba", "Zm9vYmE=", "666f6f6261"),
        ("foobar", "Zm9vYmFy", "666f6f626172"),
    ]

    @Test("Bytes are written and read as RFC 4648 shows, in base64 with or without padding")
    func examplesOfTheStandard() {
        for (text, base64, hex) in Self.vectors {
            let bytes = Array(text.utf8)
            #expect(Base64.encode(bytes) == base64 && Base64.decode(base64) == bytes)
            #expect(Base64.decode(base64.filter { $0 != "=" }) == bytes)
            #expect(
                Hex.encode(bytes) == hex && Hex.decode(hex) == bytes && Hex.decode(hex.uppercased()) == bytes
            )
        }
    }

    @Test("Every byte survives base64 and hexadecimal digits")
    func allBytes() {
        let bytes = Array(UInt8.min...UInt8.max)
        #expect(Base64.decode(Base64.encode(bytes)) == bytes && Hex.decode(Hex.encode(bytes)) == bytes)
    }

    @Test(
        "Base64 with another character, wrong padding or unused bits is refused",
        arguments: [
            "Z", "Zg=", "Zg===", "Zm8==", "Zm9v=", "Zm9v====", "=", "====", "Zg==Zg==", "Z=g=", "Zh==",
            "Zm9=", "Zm 9v",
            "Zm-_", "Zm9v\n", "Zmö=",
        ]
    )
    func badBase64(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(
        "Digits in an odd number, or other characters, are refused",
        arguments: ["6", "666", "6g", " 66", "６６", "0x66"]
    )
    func badDigits(text: String) {
        #expect(Hex.decode(text) == nil)
    }

    @Test("A number is padded with zeros to the width of its type")
    func paddedNumbers() {
        #expect(
            Hex.encode(padded: UInt32(0xabc)) == "00000abc"
                && Hex.encode(padded: UInt64.max) == "ffffffffffffffff"
        )
    }
}
