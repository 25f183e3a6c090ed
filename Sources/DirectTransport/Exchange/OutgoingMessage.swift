package import DirectHTTP1

/// What is written to the connection.
package struct OutgoingMessage: ~Copyable {
    package let method: HTTPMethod
    /// The request's own fields, without those that the writer derives from the URL and the body.
    package let headers: HTTPHeaders
    /// Fields that are sent unless `headers` has fields of these names.
    package let defaults: HTTPHeaders
    package let body: BodyContent
    /// Options that few requests set; `nil` for none.
    package let options: ExchangeOptions.Box?

    /// Makes a value of its parts.
    @inline(__always)
    package init(
        _ method: HTTPMethod,
        headers: HTTPHeaders,
        defaults: HTTPHeaders = HTTPHeaders(),
        body: BodyContent = .none,
        options: ExchangeOptions.Box? = nil
    ) {
        self.method = method
        self.headers = headers
        self.defaults = defaults
        self.body = body
        self.options = options
    }

    /// The head's announcements about the body and the connection.
    var announcements: RequestHead.Announcements { options?.options.announcements ?? .init() }

    /// Whether the request may be sent twice.
    var mayBeSentTwice: Bool { method.mayBeSentTwice(with: body) }

    /// Whether the request, which was sent once or in part, may be sent again.
    var mayBeSentAgain: Bool { method.mayBeSentAgain(with: body) }
}
