@testable import DirectCore
import Testing

@Suite("Configurations of Encrypted Client Hello")
struct ECHConfigListTests {
    /// Made by OpenSSL 4.0.3: `openssl ech -public_name cover.example.test`.
    static let openSSL =
        "AEX+DQBBfAAgACAEMNl9zYtSSzrwJmR4fU9CGs12P4MKNjrzeAwR1M1YLQAEAAEA"
        + "AQASY292ZXIuZXhhbXBsZS50ZXN0AAA="
    /// The same with `-suite p-256,hkdf-sha256,aes-128-gcm -max_name_len 64`.
    static let openSSLWithP256 =
        "AGb+DQBiIgAQAEEEgByu86nmhNKRA4n0dmDnUokZYaPPolrqH+D+kJS5f8MSzoxO"
        + "bi/GnwwYxAbMaO2eTukHxj2ByM3ufgjseDVbBQAEAAEAAUASY292ZXIuZXhhbXBsZS50ZXN0AAA="

    @Test("The lists that OpenSSL makes are read", arguments: [openSSL, openSSLWithP256])
    func lists(of text: String) throws {
        let bytes = try #require(Base64.decode(text))
        let list = try ECHConfigList(bytes)
        #expect(list.publicName.description == "cover.example.test")
        #expect(list.bytes == bytes && list.offered == bytes)
        #expect(try ECHConfigList(base64: text) == list)
        #expect(throws: ECHConfigError.malformed) { try ECHConfigList(base64: text + "!") }
        #expect(list.description == "ECHConfigList(publicName: cover.example.test, \(bytes.count) bytes)")
    }

    @Test("Bytes that are no list are refused as such")
    func malformed() throws {
        let bytes = try #require(Base64.decode(Self.openSSL))
        var lists = (0..<bytes.count).map { Array(bytes.prefix($0)) } + [bytes + [0]]
        // Each byte that is a length or part of one.
        for place in [0, 1, 4, 5, 9, 10, 43, 44, 50, 69, 70] {
            var changed = bytes
            changed[place] ^= 1
            lists.append(changed)
        }
        lists.append(Self.list([Self.config(extensions: [0, 1, 0, 0, 0, 1, 0, 0])]))
        lists.append(Self.list([Self.config(name: "")]))
        lists.append(Self.list([Self.config(suites: [0, 1, 0, 1, 0, 1])]))
        for list in lists {
            #expect(throws: ECHConfigError.malformed, "\(Hex.encode(list))") { try ECHConfigList(list) }
        }
    }

    @Test("A list with only unknown versions is refused by them")
    func unknownVersions() {
        let list = Self.list([Self.config(version: 0xFE0A), Self.config(version: 0xFF03)])
        #expect(throws: ECHConfigError.unknownVersions([0xFE0A, 0xFF03])) { try ECHConfigList(list) }
        #expect(
            ECHConfigError.unknownVersions([0xFE0A, 0xFF03]).description
                == "the ECHConfigList has only unknown versions: fe0a, ff03"
        )
    }

    @Test(
        "A configuration that this client cannot use is passed over",
        arguments: [
            config(kem: 0x30), config(key: 31), config(suites: [0, 9, 0, 1]), config(suites: [0, 1, 0, 9]),
            config(extensions: [0x80, 1, 0, 0]), config(name: "no_name.test"), config(name: "192.0.2.1"),
            config(name: "a..test"), config(name: "-a.test"), config(name: "a-.test"),
            config(name: "a.test."), config(name: "cöver.test"), config(name: "a.7"), config(name: "a.0"),
            config(name: "a.0x"), config(name: "a.0X7f"), config(name: "a.0xF"), config(name: "2130706433"),
            config(name: "a b.test"), config(name: "a.test:443"), config(name: ".test"),
            config(extensions: [0, 1, 5, 0xC0] + [UInt8](repeating: 0, count: 0x5C0)),
        ]
    )
    func unusable(config: [UInt8]) throws {
        #expect(throws: ECHConfigError.unusable) { try ECHConfigList(Self.list([config])) }
        let good = Self.config(name: "Good.test", extensions: [0, 1, 0, 0])
        let list = try ECHConfigList(
            Self.list([Self.config(version: 0xFE0A), config, good, Self.config(name: "late.test")])
        )
        #expect(list.publicName.description == "good.test")
        #expect(list.offered == Self.list([good]))
    }

    static func list(_ configs: [[UInt8]]) -> [UInt8] { vector(configs.flatMap { $0 }) }

    static func config(
        version: UInt16 = 0xFE0D,
        kem: UInt8 = 0x20,
        key: Int = 32,
        suites: [UInt8] = [0, 1, 0, 1],
        name: String = "cover.test",
        extensions: [UInt8] = []
    ) -> [UInt8] {
        let contents =
            [7, 0, kem] + vector([UInt8](repeating: 9, count: key)) + vector(suites) + [0]
            + [UInt8(name.utf8.count)] + Array(name.utf8) + vector(extensions)
        return [UInt8(version >> 8), UInt8(version & 0xFF)] + vector(contents)
    }

    private static func vector(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }
}
