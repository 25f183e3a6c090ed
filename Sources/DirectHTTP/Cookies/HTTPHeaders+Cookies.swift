internal import DirectHTTP1

extension HTTPHeaders {
    /// Adds cookies after those that the caller has set.
    ///
    /// The caller's cookies stay unchanged, and no cookie is added under a name that they already use. The
    /// result is a single field (RFC 6265bis, section 5.8.1).
    mutating func add(cookies: [Cookie]) {
        guard let first = index(of: "cookie") else {
            if !cookies.isEmpty { add("Cookie", bytes: cookies.fieldBytes) }
            return
        }
        let own = cookieFields(from: first)
        let names = own.cookieNames
        let added = cookies.filter { !names.contains($0.nameBytes) }.fieldBytes
        guard !added.isEmpty || index(of: "cookie", from: first + 1) != nil else { return }
        remove("cookie")
        add(
            "Cookie",
            bytes: own.isEmpty || added.isEmpty ? own + added : own + [UInt8].cookieSeparator + added
        )
    }

    /// The values of all `Cookie` fields, joined.
    private func cookieFields(from first: Int) -> [UInt8] {
        var values: [UInt8] = valueBytes(at: first)
        var last = first
        while let next = index(of: "cookie", from: last + 1) {
            let value = valueBytes(at: next)
            if !values.isEmpty, !value.isEmpty { values += [UInt8].cookieSeparator }
            values += value
            last = next
        }
        return values
    }
}

extension [Cookie] {
    /// The value of a `Cookie` field. It need not be valid UTF-8.
    var fieldBytes: [UInt8] {
        var field: [UInt8] = []
        for cookie in self {
            if !field.isEmpty { field += [UInt8].cookieSeparator }
            field += cookie.pair
        }
        return field
    }
}

extension [UInt8] {
    fileprivate static let cookieSeparator: [UInt8] = [UInt8(ascii: ";"), UInt8(ascii: " ")]

    fileprivate var cookieNames: Set<ArraySlice<UInt8>> {
        Set(
            split(separator: UInt8(ascii: ";")).map { pair in
                guard let sign = pair.firstIndex(of: UInt8(ascii: "=")) else { return [] }
                return pair[..<sign].trimmed
            }
        )
    }
}
