// Printing or dumping settings does not reveal passwords and tokens.

extension StandardAuthenticator: CustomStringConvertible, CustomReflectable {
    /// A description without the credentials.
    public var description: String { "StandardAuthenticator(hidden)" }
    /// An empty mirror, which hides the credentials.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension BearerToken: CustomStringConvertible {
    /// A description without the token.
    public var description: String { "BearerToken(hidden)" }
}
