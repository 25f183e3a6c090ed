/// GB18030 (Encoding Standard, section 10.2): the Chinese national standard, of which GBK and GB 2312 are
/// parts.
///
/// A character has one, two or four bytes. Those of two bytes are in a table, which ``runs`` and ``text``
/// describe. Those of four bytes are all other characters of Unicode, in its order.
enum GB18030 {
    /// The characters of two bytes in the standard of 2000, row by row.
    static let table: [UInt16] = {
        var table = [UInt16](repeating: 0, count: 126 * 190)
        let characters = text.description.utf16
        let placed = Set(characters.filter { 0x4E00...0x9FFF ~= $0 })
        for run in stride(from: 0, to: runs.count, by: 3) {
            var character = runs[run + 1]
            for index in Int(runs[run])..<Int(runs[run] + runs[run + 2]) {
                table[index] = character
                repeat { character += 1 } while placed.contains(character)
            }
        }
        var rest = characters.makeIterator()
        for index in table.indices where table[index] == 0 { table[index] = rest.next() ?? 0xFFFD }
        return table
    }()

    /// The characters of two bytes that the table has and the Encoding Standard reads differently: vertical
    /// punctuation and ideographs that were private when the first standard was made (2022), one letter
    /// (2005), and a second ideographic space that is in use.
    private static let amended: [Int: UInt16] = [
        6555: 0x3000, 7533: 0x1E3F,
        7182: 0xFE10, 7183: 0xFE12, 7184: 0xFE11, 7185: 0xFE13, 7186: 0xFE14, 7187: 0xFE15, 7188: 0xFE16,
        7201: 0xFE17, 7202: 0xFE18, 7208: 0xFE19,
        23775: 0x9FB4, 23783: 0x9FB5, 23788: 0x9FB6, 23789: 0x9FB7, 23795: 0x9FB8, 23812: 0x9FB9,
        23829: 0x9FBA,
        23845: 0x9FBB,
    ]

    /// The table as the Encoding Standard reads it.
    private static let index: [UInt16] = {
        var index = table
        for (place, character) in amended { index[place] = character }
        return index
    }()

    /// The characters of the basic plane that have four bytes, in order.
    private static let others: [UInt16] = {
        var isTaken = [Bool](repeating: false, count: 0x1_0000)
        for character in table { isTaken[Int(character)] = true }
        return (0x80...0xFFFF).filter { !isTaken[$0] && !(0xD800...0xDFFF ~= $0) }.map(UInt16.init)
    }()

    /// Returns the character of four bytes with this number; `nil` if there is none.
    private static func character(_ pointer: Int) -> Unicode.Scalar? {
        // The standard of 2005 gave the letter with this number two bytes, and its bytes to what had had
        // those.
        if pointer == 7457 { return "\u{E7C7}" }
        if pointer < others.count { return Unicode.Scalar(others[pointer]) }
        return pointer >= 189_000 ? Unicode.Scalar(UInt32(pointer - 189_000 + 0x1_0000)) : nil
    }

    /// Decodes bytes; U+FFFD stands for what is invalid, after which decoding continues as early as possible,
    /// so that no ASCII is swallowed.
    static func decode(_ bytes: ArraySlice<UInt8>) -> String {
        var scalars = String.UnicodeScalarView()
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let (scalar, length) = first(of: bytes[position...])
            scalars.append(scalar ?? "\u{FFFD}")
            position += length
        }
        return String(scalars)
    }

    /// Decodes the first character of bytes that are not empty; returns it, or `nil` for an error, and the
    /// number of bytes that it takes.
    private static func first(of bytes: ArraySlice<UInt8>) -> (Unicode.Scalar?, length: Int) {
        let start = bytes.startIndex
        let lead = bytes[start]
        if lead < 0x80 { return (Unicode.Scalar(lead), 1) }
        if lead == 0x80 { return ("\u{20AC}", 1) }
        guard lead != 0xFF else { return (nil, 1) }
        guard bytes.count > 1 else { return (nil, 1) }
        let second = bytes[start + 1]
        if 0x30...0x39 ~= second { return fourBytes(bytes) }
        guard second >= 0x40, second != 0x7F, second != 0xFF else { return (nil, second < 0x80 ? 1 : 2) }
        let place = Int(lead - 0x81) * 190 + Int(second) - (second < 0x7F ? 0x40 : 0x41)
        return (Unicode.Scalar(index[place]), 2)
    }

    private static func fourBytes(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar?, length: Int) {
        let start = bytes.startIndex
        guard bytes.count > 2 else { return (nil, 2) }
        guard 0x81...0xFE ~= bytes[start + 2] else { return (nil, 1) }
        guard bytes.count > 3 else { return (nil, 3) }
        guard 0x30...0x39 ~= bytes[start + 3] else { return (nil, 1) }
        var pointer = Int(bytes[start] - 0x81) * 10 + Int(bytes[start + 1] - 0x30)
        pointer = pointer * 126 + Int(bytes[start + 2] - 0x81)
        pointer = pointer * 10 + Int(bytes[start + 3] - 0x30)
        return (character(pointer), 4)
    }
}
