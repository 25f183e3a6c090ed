extension Request {
    /// Whether the response is to come from the origin, whole: no stored one answers it, not even one that the origin
    /// confirms. The new one is stored as ever.
    package var ignoresStoredResponses: Bool {
        get { hasOptions && options.ignoresStoredResponses }
        set { if newValue != ignoresStoredResponses { options.ignoresStoredResponses = newValue } }
    }
}
