internal import DirectHTTP1
internal import DirectIO

extension CookieJar {
    /// Puts the jar's cookies for a request into its headers, behind those that the caller has put there.
    ///
    /// The rule: the caller's cookies come first and as they are written, and the jar adds none of a name that they
    /// have. There is one field in the end (RFC 6265bis, section 5.8.1). Nothing of the caller's gets into the jar.
    package func addField(to headers: inout Headers, for url: HTTPURL, at now: UnixTime) {
        guard let first = headers.index(of: "cookie") else {
            if let field = fieldBytes(for: url, at: now) { headers.add("Cookie", bytes: field) }
            return
        }
        let own = headers.cookieFields(from: first)
        let names = own.cookieNames
        let added = fieldBytes(for: url, at: now) { names.contains($0) } ?? []
        guard !added.isEmpty || headers.index(of: "cookie", from: first + 1) != nil else { return }
        headers.remove("cookie")
        headers.add(
            "Cookie",
            bytes: own.isEmpty || added.isEmpty ? own + added : own + Self.separator + added
        )
    }

    fileprivate static let separator: [UInt8] = [UInt8(ascii: ";"), UInt8(ascii: " ")]
}

extension Headers {
    /// The values of the fields, as one.
    fileprivate func cookieFields(from first: Int) -> [UInt8] {
        var values: [UInt8] = valueBytes(at: first)
        var last = first
        while let next = index(of: "cookie", from: last + 1) {
            let value = valueBytes(at: next)
            if !values.isEmpty, !value.isEmpty { values += CookieJar.separator }
            values += value
            last = next
        }
        return values
    }
}

extension [UInt8] {
    fileprivate var cookieNames: Set<ArraySlice<UInt8>> {
        Set(
            split(separator: UInt8(ascii: ";")).map { pair in
                guard let sign = pair.firstIndex(of: UInt8(ascii: "=")) else { return [] }
                return pair[..<sign].trimmed
            }
        )
    }
}
