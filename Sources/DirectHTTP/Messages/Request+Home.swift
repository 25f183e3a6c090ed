extension Request {
    /// Whether a redirect has led it to another origin at some time; for those who follow redirects themselves.
    package var isAwayFromHome: Bool {
        get { hasOptions && options.isAwayFromHome }
        set { if newValue != isAwayFromHome { options.isAwayFromHome = newValue } }
    }
}
