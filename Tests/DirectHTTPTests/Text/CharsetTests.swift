import DirectTestCommands
import Testing

@testable import DirectHTTP

@Suite("Charsets of texts", .idleLimit)
struct CharsetTests {
    @Test(
        "The labels of the Encoding Standard name the encodings, in any case and among spaces",
        arguments: [
            ("utf-8", Charset.utf8), ("UTF8", .utf8), (" Utf-8\t", .utf8), ("unicode-1-1-utf-8", .utf8),
            ("ISO-8859-1", .windows1252), ("latin1", .windows1252), ("us-ascii", .windows1252),
            ("windows-1252", .windows1252), ("utf-16", .utf16LE), ("UTF-16LE", .utf16LE),
            ("utf-16be", .utf16BE),
            ("unicodeFFFE", .utf16BE), ("gb2312", .gb18030), ("GBK", .gb18030), ("x-gbk", .gb18030),
            ("\u{0C}gb18030\r\n", .gb18030), ("gb_2312-80", .gb18030),
        ]
    )
    func labels(label: String, charset: Charset) throws {
        #expect(Charset(label: label) == charset)
    }

    @Test(
        "Any other label is none",
        arguments: [
            "shift_jis", "big5", "iso-8859-2", "", " ", "utf-7", "utf-8;x", "u\u{212A}f8", "utf-8\u{A0}",
        ]
    )
    func unknown(label: String) {
        #expect(Charset(label: label) == nil)
    }

    @Test("The error for a label is one short line, whatever the label is")
    func hostileLabel() async throws {
        let label = "\r\n\u{1B}[31m" + String(repeating: "x", count: 1000)
        let response = try await response("text/plain; charset=\(label)", [])
        let text = "\(try await httpError { try response.decodedText() }.reason)"
        #expect(text.contains("xxx") && text.utf8.count < 150)
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    private static func text(_ charset: Charset, _ bytes: [UInt8]) -> String { charset.decode(bytes) }

    @Test("Bytes of UTF-8 that are invalid become U+FFFD, one for each maximal part of a character")
    func utf8() {
        #expect(Self.text(.utf8, [0x61, 0xC3, 0xA9, 0xF0, 0x9F, 0x98, 0x80]) == "aé😀")
        #expect(
            Self.text(.utf8, [0xE2, 0x82, 0x61, 0xFF, 0xC0, 0xAF]) == "\u{FFFD}a\u{FFFD}\u{FFFD}\u{FFFD}"
        )
        #expect(Self.text(.utf8, [0xED, 0xA0, 0x80, 0xF0, 0x9F]) == "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}")
    }

    @Test("Each byte is a character of windows-1252, also where ISO-8859-1 has control characters")
    func windows1252() {
        let all = Array(Self.text(.windows1252, Array(0...255)).unicodeScalars)
        #expect(all.count == 256 && all[0x41] == "A" && all[0xE9] == "é" && all[0xFF] == "ÿ")
        #expect(
            all[0x80] == "€" && all[0x99] == "™" && all[0x9F] == "Ÿ" && all[0x8A] == "Š" && all[0x96] == "–"
        )
        #expect(all[0x81].value == 0x81 && all[0x9D].value == 0x9D && Set(all).count == 256)
    }

    @Test("Surrogates without their other half and half units of UTF-16 become U+FFFD")
    func utf16() {
        #expect(Self.text(.utf16LE, [0x61, 0, 0x3D, 0xD8, 0x00, 0xDE]) == "a😀")
        #expect(Self.text(.utf16BE, [0, 0x61, 0xD8, 0x3D, 0xDE, 0x00]) == "a😀")
        #expect(Self.text(.utf16LE, [0x3D, 0xD8, 0x61, 0, 0x00, 0xDE]) == "\u{FFFD}a\u{FFFD}")
        #expect(Self.text(.utf16BE, [0, 0x61, 0]) == "a\u{FFFD}")
        // The decoder of the standard reports one error for a text that ends within a pair.
        #expect(Self.text(.utf16BE, [0xD8, 0x3D]) == "\u{FFFD}")
        #expect(Self.text(.utf16BE, [0xD8, 0x3D, 0xDE]) == "\u{FFFD}")
    }

    /// FNV-1a over code points of the basic plane.
    private static func sum(_ scalars: some Sequence<Unicode.Scalar>) -> UInt64 {
        scalars.reduce(0xCBF2_9CE4_8422_2325) { sum, scalar in
            [scalar.value >> 8, scalar.value & 255].reduce(sum) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        }
    }

    @Test("All characters of two bytes of GB18030 are those of Python's codec, as amended in 2005 and 2022")
    func twoBytes() {
        var bytes: [UInt8] = []
        for first in 0x81...0xFE as ClosedRange<UInt8> {
            for second in 0x40...0xFE as ClosedRange<UInt8> where second != 0x7F { bytes += [first, second] }
        }
        let scalars = Self.text(.gb18030, bytes).unicodeScalars
        // As scripts/make/gb18030 --sums of commit b4ba724d printed it.
        #expect(scalars.count == 23_940 && Self.sum(scalars) == 0x4FFA_A115_17FC_A66C)
    }

    private static func fourBytes(_ pointer: Int) -> [UInt8] {
        let digits = [pointer / 12_600, pointer / 1260 % 10, pointer / 10 % 126, pointer % 10]
        return zip(digits, [0x81, 0x30, 0x81, 0x30]).map { UInt8($0 + $1) }
    }

    @Test("All characters of four bytes of the basic plane are those of Python's codec")
    func fourBytes() {
        let scalars = Self.text(.gb18030, (0..<39_420).flatMap(Self.fourBytes)).unicodeScalars
        // As scripts/make/gb18030 --sums of commit b4ba724d printed it.
        #expect(scalars.count == 39_420 && Self.sum(scalars) == 0xB671_FAEE_56DC_CF06)
    }

    @Test("Characters of four bytes reach from the supplementary planes to the last, and no further")
    func planes() {
        let cases: [(Int, String)] = [
            (39_419, "\u{FFFF}"), (39_420, "\u{FFFD}"), (188_999, "\u{FFFD}"), (189_000, "\u{10000}"),
            (189_000 + 0x1F600 - 0x10000, "😀"), (1_237_575, "\u{10FFFF}"), (1_237_576, "\u{FFFD}"),
            (1_587_599, "\u{FFFD}"),
        ]
        for (pointer, text) in cases { #expect(Self.text(.gb18030, Self.fourBytes(pointer)) == text) }
    }

    @Test(
        "Invalid bytes of GB18030 become U+FFFD, and swallow no ASCII",
        arguments: [
            ([0xC4, 0xE3, 0xBA, 0xC3], "你好"), ([0x61, 0x80, 0xFF, 0x62], "a€\u{FFFD}b"), ([0x81], "\u{FFFD}"),
            ([0x81, 0x3C, 0x61], "\u{FFFD}<a"), ([0x81, 0x7F], "\u{FFFD}\u{7F}"),
            ([0x81, 0xFF, 0x61], "\u{FFFD}a"),
            ([0x81, 0x30], "\u{FFFD}"), ([0x81, 0x30, 0x81], "\u{FFFD}"), ([0x81, 0x30, 0x61], "\u{FFFD}0a"),
            ([0x81, 0x30, 0x81, 0x22], "\u{FFFD}0\u{FFFD}\""), ([0xFE, 0x39, 0xFE, 0x39], "\u{FFFD}"),
            ([0xA3, 0xA0], "\u{3000}"), ([0xA8, 0xBC], "ḿ"), ([0x81, 0x35, 0xF4, 0x37], "\u{E7C7}"),
            ([0xFE, 0x59, 0xA6, 0xD9], "\u{9FB4}\u{FE10}"), ([0x82, 0x35, 0x90, 0x37], "\u{9FB4}"),
        ] as [([UInt8], String)]
    )
    func invalid(bytes: [UInt8], text: String) {
        #expect(Array(Self.text(.gb18030, bytes).unicodeScalars) == Array(text.unicodeScalars))
    }

    private func response(_ type: String?, _ bytes: [UInt8]) async throws -> HTTPClient.BufferedResponse {
        let client = HTTPClient.untimed {
            $0.transport = { request in
                try HTTPClient.Response(
                    to: request,
                    200,
                    headers: type.map { ["Content-Type": $0] } ?? [:],
                    body: bytes
                )
            }
        }
        return try await client.get("http://a.test/")
    }

    @Test(
        "The text of a response is decoded by its charset, UTF-8 without one",
        arguments: [
            ("text/html; charset=GBK", [0xC4, 0xE3], "你"),
            ("text/html;charset=\"g\\bk\"", [0xC4, 0xE3], "你"),
            ("text/html; a=\";charset=utf-8\" ; CHARSET = x; charset=gbk", [0xC4, 0xE3], "你"),
            ("text/plain; charset=latin1; charset=utf-8", [0xE9], "é"), ("text/plain", [0xC3, 0xA9], "é"),
            ("text/plain; charset=", [0xC3, 0xA9], "é"), ("text/plain; charset=\"\"", [0xC3, 0xA9], "é"),
            ("text/plain; charset=;charset=gbk", [0xC4, 0xE3], "你"),
            ("text/plain; charset= \t;charset=gbk", [0xC4, 0xE3], "你"),
            ("text/plain; a=b\"c; charset=\"gbk", [0xC4, 0xE3], "你"),
            ("text/plain; charset=utf-16be", [0x4F, 0x60], "你"), (nil, [0xE9, 0x61], "\u{FFFD}a"),
        ] as [(String?, [UInt8], String)]
    )
    func declared(type: String?, bytes: [UInt8], text: String) async throws {
        let response = try await response(type, bytes)
        #expect(response.text == text)
        #expect(try response.decodedText() == text)
    }

    @Test(
        "A byte order mark decides against the charset, and is no part of the text",
        arguments: [
            ([0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "é"), ([0xFE, 0xFF, 0x4F, 0x60], "你"),
            ([0xFF, 0xFE, 0x60, 0x4F], "你"), ([0xEF, 0xBB, 0xBF], ""), ([0xFF, 0xFE], ""),
        ] as [([UInt8], String)]
    )
    func marks(bytes: [UInt8], text: String) async throws {
        for type in ["text/plain; charset=gbk", "text/plain; charset=shift_jis", "text/plain"] {
            #expect(try await response(type, bytes).text == text)
        }
    }

    @Test("A text in an encoding that is not supported is nil, and an error that names the label")
    func unsupported() async throws {
        let response = try await response("text/plain; charset=Shift_JIS", [0x61])
        #expect(response.text == nil)
        let error = try await httpError { try response.decodedText() }
        guard case .unsupportedCharset("Shift_JIS") = error.reason else { throw error }
        #expect(error.phase == .body && error.url == response.url)
        #expect(Charset.utf8.decode(response.body) == "a")
    }

    @Test("The fallback is for texts that declare no charset")
    func fallback() async throws {
        #expect(try await response("text/plain", [0xC4, 0xE3]).decodedText(fallback: .gb18030) == "你")
        #expect(
            try await response("text/plain; charset=latin1", [0xE9]).decodedText(fallback: .gb18030) == "é"
        )
    }
}
