internal import DirectHTTP1

/// The client's own fields, for requests that do not have them.
struct DefaultFields: Sendable {
    private let usual: Headers
    private let forRanges: Headers

    init(_ fields: Headers, acceptEncoding: String?) {
        forRanges = fields
        var usual = fields
        if let acceptEncoding { usual.add("Accept-Encoding", acceptEncoding) }
        self.usual = usual
    }

    /// Coded content is not asked for together with a range, which would be one of the coded content (RFC 9110,
    /// section 14.2) and could not be decoded.
    func fields(for request: Request) -> Headers {
        request.headers.index(of: "range") == nil ? usual : forRanges
    }
}
