extension HTTPURL {
    /// The URL as a log may show it: without user information and fragment, and with `***` in place of each
    /// value of the query. An item without a name is a value as a whole.
    ///
    /// Path and names of the query stay. A secret that is part of the path is not recognised.
    public var redacted: HTTPURL {
        let bare = withoutCredentials.withoutFragment
        guard query != nil else { return bare }
        var bytes = Array(targetBytes[...pathLength])
        for (index, item) in targetBytes[(pathLength + 1)...].split(
            separator: UInt8(ascii: "&"),
            omittingEmptySubsequences: false
        ).enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            if let equals = item.firstIndex(of: UInt8(ascii: "=")) { bytes += item[...equals] }
            if !item.isEmpty { bytes += "***".utf8 }
        }
        let target = URLTarget(bytes: bytes, pathLength: pathLength)
        return HTTPURL(Storage(authority: bare.storage.authority, target: target, fragment: nil))
    }
}
