internal import DirectCore

/// The encoding of a text, as `Content-Type` names it: those that the Encoding Standard of the WHATWG has and
/// that this package can decode.
@nonexhaustive
public enum Charset: Hashable, Sendable {
    /// UTF-8.
    case utf8
    /// windows-1252, which ISO-8859-1 and US-ASCII mean as well: on the web their labels stand for it.
    case windows1252
    /// UTF-16, little-endian; the label `utf-16` means this.
    case utf16LE
    /// UTF-16, big-endian.
    case utf16BE
    /// GB18030 of 2022, which decodes GBK and GB 2312 as well.
    case gb18030

    /// Finds the encoding of a label, by the Encoding Standard: `latin1`, `GB2312`, `utf8` and many others.
    /// Case and surrounding spaces do not matter;
    /// `nil` for any other label, also for those that only the standard knows.
    public init?(label: String) {
        let trimmed = label.utf8.drop(while: \.isLabelSpace)
        let end = trimmed.lastIndex { !$0.isLabelSpace }
        let name = end.map { String(trimmed[...$0]) ?? "" }?.lowercased()
        guard let name, let found = Self.labels.first(where: { $0.names.contains(name) }) else {
            return nil
        }
        self = found.charset
    }

    /// The labels of the Encoding Standard, section 4.2.
    private static let labels: [(charset: Charset, names: Set<String>)] = [
        (
            .utf8,
            ["unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "utf-8", "utf8", "x-unicode20utf8"]
        ),
        (
            .windows1252,
            [
                "ansi_x3.4-1968", "ascii", "cp1252", "cp819", "csisolatin1", "ibm819", "iso-8859-1",
                "iso-ir-100",
                "iso8859-1", "iso88591", "iso_8859-1", "iso_8859-1:1987", "l1", "latin1", "us-ascii",
                "windows-1252", "x-cp1252",
            ]
        ),
        (
            .gb18030,
            [
                "chinese", "csgb2312", "csiso58gb231280", "gb18030", "gb2312", "gb_2312", "gb_2312-80", "gbk",
                "iso-ir-58", "x-gbk",
            ]
        ),
        (
            .utf16LE,
            ["csunicode", "iso-10646-ucs-2", "ucs-2", "unicode", "unicodefeff", "utf-16", "utf-16le"]
        ),
        (.utf16BE, ["unicodefffe", "utf-16be"]),
    ]
}

extension UInt8 {
    fileprivate var isLabelSpace: Bool { self == 0x20 || 0x09...0x0D ~= self && self != 0x0B }
}
