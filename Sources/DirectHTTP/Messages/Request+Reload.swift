extension Request {
    /// Whether the response must come whole from the origin: no stored response is used, not even after validation.
    /// The new response is stored as usual.
    package var ignoresStoredResponses: Bool {
        get { hasOptions && options.ignoresStoredResponses }
        set { if newValue != ignoresStoredResponses { options.ignoresStoredResponses = newValue } }
    }
}

extension Request {
    /// Whether the cache takes no part: no stored response is used, and the response is not stored.
    var bypassesCache: Bool {
        get { hasOptions && options.bypassesCache }
        set { if newValue != bypassesCache { options.bypassesCache = newValue } }
    }

    /// The endpoints where earlier requests for the same have failed. A request with a retry policy avoids them.
    var failedEndpoints: FailedEndpoints {
        get { hasOptions ? options.failedEndpoints : FailedEndpoints() }
        set { options.failedEndpoints = newValue }
    }

    /// Notes what is really sent, for a caller that sends the request several times; `nil` for one that does not.
    var repeatability: Repeatability? {
        get { hasOptions ? options.repeatability : nil }
        set { options.repeatability = newValue }
    }
}
