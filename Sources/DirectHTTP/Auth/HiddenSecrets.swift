// Who prints settings, or lets something `dump` them, does not get to see passwords and tokens.

extension BasicAuthenticator: CustomStringConvertible, CustomReflectable {
    /// Never shows user and password.
    public var description: String { "BasicAuthenticator(hidden)" }
    /// Never shows user and password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension BearerAuthenticator: CustomStringConvertible, CustomReflectable {
    /// Never shows the token.
    public var description: String { "BearerAuthenticator(hidden)" }
    /// Never shows the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension DigestAuthenticator: CustomStringConvertible, CustomReflectable {
    /// Never shows user and password.
    public var description: String { "DigestAuthenticator(hidden)" }
    /// Never shows user and password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
