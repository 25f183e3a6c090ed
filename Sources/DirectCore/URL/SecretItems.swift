/// Which values are hidden in a query, a fragment or a form: in items that `&` separates. A secret may also
/// begin behind a `;`, as some servers have it, but does not end there: for others that is part of it.
package struct SecretItems: Sendable {
    /// The text that replaces a secret.
    package static let mask = "***"

    /// The names in lower case; `nil` for all.
    private let names: Set<String>?

    /// Creates a rule.
    ///
    /// - Parameter names: The names of the items whose values are hidden, compared ignoring case; `nil` for
    ///   all.
    package init(named names: Set<String>?) {
        self.names = names.map { Set($0.map { $0.lowercased() }) }
    }

    /// Whether nothing is hidden.
    package var isEmpty: Bool { names?.isEmpty == true }

    /// Returns the items with `***` in place of what is hidden. Of all items those without a name are values
    /// as a whole, and so are those that end with their equals sign: it may be the padding of Base64.
    package func hidden(in items: ArraySlice<UInt8>) -> [UInt8] {
        let items = items.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return Array(items.map(hidden(inItem:)).joined(separator: [UInt8(ascii: "&")]))
    }

    /// Returns the item up to its first secret, and `***` in place of the rest.
    private func hidden(inItem whole: ArraySlice<UInt8>) -> [UInt8] {
        for item in whole.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            let value = item[name.endIndex...]
            let hasName = names == nil ? value.contains { $0 != UInt8(ascii: "=") } : !value.isEmpty
            guard hasName ? isSecret(name) : names == nil && !item.isEmpty else { continue }
            let shown = whole[..<(hasName ? name.endIndex + 1 : item.startIndex)]
            return Array(shown) + Self.mask.utf8
        }
        return Array(whole)
    }

    /// Returns a URL or a reference with `***` in place of what is hidden in its query, and in its fragment,
    /// which OAuth gives tokens to (RFC 6749, section 4.2.2).
    package func hidden(inReference reference: [UInt8]) -> [UInt8] {
        let end = reference.firstIndex(of: UInt8(ascii: "#")) ?? reference.endIndex
        let start = reference[..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        var shown = Array(reference[..<start])
        for part in [reference[start..<end], reference[end...]] {
            shown += part.prefix(1) + hidden(in: part.dropFirst())
        }
        return shown
    }

    private func isSecret(_ name: ArraySlice<UInt8>) -> Bool {
        guard let names else { return true }
        // In a fragment a path may be before the first item: programs in a browser have such ones.
        let last = name.lastIndex(of: UInt8(ascii: "?")).map { name[($0 + 1)...] } ?? name
        return names.contains(name.decodedItem) || names.contains(last.decodedItem)
    }
}

extension ArraySlice<UInt8> {
    /// The name of an item in lower case, with its escapes undone: another spelling of a name is the same
    /// name.
    fileprivate var decodedItem: String {
        var bytes: [UInt8] = []
        var rest = self
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }
}
