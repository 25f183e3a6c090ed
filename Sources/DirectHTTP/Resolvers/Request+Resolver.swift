extension Request {
    /// Asked for addresses instead of ``HTTPClient/Configuration/resolver``, for this request and the
    /// redirects that it follows. `nil` means the client's. ``addresses`` and the maps come before it.
    public var resolver: (any Resolver)? {
        get { hasOptions ? options.resolver : nil }
        set { if hasOptions || newValue != nil { options.resolver = newValue } }
    }
}
