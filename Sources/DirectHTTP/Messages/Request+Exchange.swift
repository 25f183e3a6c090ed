internal import DirectHTTP1
public import DirectTransport

extension Request {
    /// Whether to send the head alone first (`Expect: 100-continue`), and the body when the server asks for
    /// it or when ``Timeouts/continue`` has passed. The server can refuse the request before the body is
    /// sent. Has no effect on a request without a body.
    public var expectsContinue: Bool {
        get { exchangeBox?.options.expectsContinue ?? false }
        set { changeExchange { $0.expectsContinue = newValue } }
    }

    /// The protocols to switch to if the server agrees (`Upgrade`), the preferred one first. The server
    /// agrees with 101; ``HTTPClient/Response/takeStream()`` then returns the connection.
    public var upgrade: [String] {
        get { exchangeBox?.options.upgrade ?? [] }
        set { changeExchange { $0.upgrade = newValue } }
    }

    /// Called for each interim response, such as 103 (Early Hints), but not for 100 (Continue). Nothing more
    /// is read until it returns, so it must not block.
    public var onInterim: (@Sendable (ReceivedResponse) -> Void)? {
        get { exchangeBox?.options.onInterim }
        set { changeExchange { $0.onInterim = newValue } }
    }

    /// Called whenever part of the body has been sent; starts again from zero if the request is sent again.
    /// It must not block. Sent is what the system has taken: the server may have some megabytes less, and may
    /// answer before it has any.
    public var onUpload: (@Sendable (TransferProgress) -> Void)? {
        get { exchangeBox?.options.onUpload }
        set { changeExchange { $0.onUpload = newValue } }
    }

    /// Called whenever part of the response's body has been received, before it is decoded; starts again from
    /// zero with each response. It must not block.
    public var onDownload: (@Sendable (TransferProgress) -> Void)? {
        get { exchangeBox?.options.onDownload }
        set { changeExchange { $0.onDownload = newValue } }
    }

    /// Limits the speed at which the body is sent. `nil` means ``HTTPClient/Configuration/sendingRate``. It
    /// holds for redirects and retries, too; requests with the same limit share it.
    public var sendingRate: RateLimit? {
        get { exchangeBox?.options.sendingRate }
        set { changeExchange { $0.sendingRate = newValue } }
    }

    /// Limits the speed at which the body of the response is received, before it is decoded. `nil` means
    /// ``HTTPClient/Configuration/receivingRate``. It holds for redirects and retries, too; requests with the
    /// same limit share it.
    public var receivingRate: RateLimit? {
        get { exchangeBox?.options.receivingRate }
        set { changeExchange { $0.receivingRate = newValue } }
    }

    /// Returns the request without `Expect` if the server refused that (417) and the request may be sent
    /// again; else `nil`.
    func withoutExpectation(after status: HTTPStatus) -> Request? {
        guard status == .expectationFailed, expectsContinue, body.canBeSent else { return nil }
        var request = self
        request.expectsContinue = false
        request.headers.remove("Expect")
        return request
    }

    /// The exchange options; `nil` if none is set.
    var exchangeBox: ExchangeOptions.Box? { optionsBox?.options.exchangeBox }

    @inline(never)
    private mutating func changeExchange(_ change: (inout ExchangeOptions) -> Void) {
        change(&options.exchange)
    }
}

extension Request {
    /// Returns the request's own fields, and those that follow from its body and its options.
    func completedHeaders(_ defaults: HTTPHeaders) -> HTTPHeaders {
        var (headers, derived) = (headers, contentFields)
        if defaults.contains("Content-Type") { derived.remove("Content-Type") }
        headers.complete(with: derived)
        let protocols = upgrade.joined(separator: ", ")
        // The request may have been shown with all its fields. Any other second value is refused.
        if !upgrade.isEmpty, headers.values(for: "Upgrade") != [protocols] {
            headers.add("Upgrade", protocols)
        }
        return headers
    }

    /// The fields that describe the body.
    package var contentFields: HTTPHeaders {
        var fields = HTTPHeaders()
        if let type = contentType { fields.add("Content-Type", type) }
        if body.isGzipped { fields.add("Content-Encoding", "gzip") }
        return fields
    }

    /// The type of the body. That of OPTIONS has one in any case (RFC 9110, section 9.3.7).
    package var contentType: String? {
        body.contentType ?? (isOptionsWithBody ? "application/octet-stream" : nil)
    }

    /// Whether this is an OPTIONS request with a body, which may be empty.
    var isOptionsWithBody: Bool {
        if case .none = body.content { return false }
        return method == .options
    }

    /// The fields about the next recipient that the client writes: `Connection` and `Upgrade`.
    package var connectionFields: HTTPHeaders {
        var fields = HTTPHeaders()
        var options: [String] = []
        // RFC 9110, section 10.1.4: the next recipient must not pass TE on.
        if headers.contains("TE") { options.append("TE") }
        if !upgrade.isEmpty { options.append("upgrade") }
        if !options.isEmpty { fields.add("Connection", options.joined(separator: ", ")) }
        if !upgrade.isEmpty { fields.add("Upgrade", upgrade.joined(separator: ", ")) }
        return fields
    }
}
