extension Request {
    /// Whether the response must come whole from the origin: no stored response is used, not even after validation.
    /// The new response is stored as usual.
    package var ignoresStoredResponses: Bool {
        get { hasOptions && options.ignoresStoredResponses }
        set { if newValue != ignoresStoredResponses { options.ignoresStoredResponses = newValue } }
    }
}
