extension HTTPURL {
    /// The URL as a log may show it: without user information and fragment, and with `***` in place of each
    /// value of the query. An item without a name is a value as a whole, and so is one that ends with its
    /// equals sign.
    ///
    /// Path and names of the query stay. A secret that is part of the path is not recognised.
    public var redacted: HTTPURL {
        let bare = withoutCredentials.withoutFragment
        guard query != nil else { return bare }
        let query = SecretItems(named: nil).hidden(in: targetBytes[(pathLength + 1)...])
        let target = URLTarget(bytes: Array(targetBytes[...pathLength]) + query, pathLength: pathLength)
        return HTTPURL(Storage(authority: bare.storage.authority, target: target, fragment: nil))
    }
}
