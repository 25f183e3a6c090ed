// Printing or dumping settings does not reveal passwords and tokens.

extension BasicAuthenticator: CustomStringConvertible, CustomReflectable {
    /// A description without user name and password.
    public var description: String { "BasicAuthenticator(hidden)" }
    /// An empty mirror, which hides user name and password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension BearerAuthenticator: CustomStringConvertible, CustomReflectable {
    /// A description without the token.
    public var description: String { "BearerAuthenticator(hidden)" }
    /// An empty mirror, which hides the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension BearerToken: CustomStringConvertible {
    /// A description without the token.
    public var description: String { "BearerToken(hidden)" }
}

extension DigestAuthenticator: CustomStringConvertible, CustomReflectable {
    /// A description without user name and password.
    public var description: String { "DigestAuthenticator(hidden)" }
    /// An empty mirror, which hides user name and password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
