internal import DirectHTTP

extension FieldScanner {
    /// Reads parameters as far as there are any: `; name=value; name="value"`. The names are in lower case;
    /// the first of each counts. A value without quotes may have any bytes, as servers send them.
    ///
    /// - Parameter end: What ends the parameters, besides the end of the value.
    mutating func parameters(before end: UInt8? = nil) -> [String: String] {
        var all: [String: String] = [:]
        func isWithin(_ byte: UInt8) -> Bool { byte != UInt8(ascii: ";") && byte != end }
        skipBlanks()
        while take(UInt8(ascii: ";")) {
            skipBlanks()
            let name = read { isWithin($0) && !"= \t".utf8.contains($0) }.lowercased()
            skipBlanks()
            let value = take(UInt8(ascii: "=")) ? argument(while: isWithin) : ""
            if !name.isEmpty, all[name] == nil { all[name] = value }
            skipBlanks()
        }
        return all
    }

    private mutating func argument(while isPart: (UInt8) -> Bool) -> String {
        skipBlanks()
        if rest.first == UInt8(ascii: "\"") { return String(decoding: quotedString().text, as: UTF8.self) }
        let text = read(while: isPart).utf8
        let end = text.lastIndex { $0 != 0x20 && $0 != 0x09 }.map(text.index(after:)) ?? text.startIndex
        return String(decoding: text[..<end], as: UTF8.self)
    }
}
