public import DirectHTTP1

/// What few requests ask for, kept apart so that the others do not carry it about.
struct ExchangeOptions: Sendable {
    var expectsContinue = false
    var upgrade: [String] = []
    var onInterim: (@Sendable (ResponseHead) -> Void)?
    var onUpload: (@Sendable (TransferProgress) -> Void)?
    var onDownload: (@Sendable (TransferProgress) -> Void)?

    /// Tells that a body has gone out with its head.
    func reportUpload(of body: RequestBody) {
        guard let onUpload, case .bytes(let bytes) = body.content else { return }
        onUpload(TransferProgress(bytes: UInt64(bytes.count), total: UInt64(bytes.count)))
    }

    /// One reference, or none.
    final class Box: Sendable {
        let options: ExchangeOptions

        init(_ options: ExchangeOptions) {
            self.options = options
        }
    }
}

/// How much of a body has been moved.
public struct TransferProgress: Hashable, Sendable {
    /// Bytes of content so far, as they are on the wire.
    public let bytes: UInt64
    /// How many it will be; nothing if nobody knows yet.
    public let total: UInt64?

    /// So much of so much.
    public init(bytes: UInt64, total: UInt64?) {
        self.bytes = bytes
        self.total = total
    }
}

extension Request {
    /// Whether to send the head alone first (`Expect: 100-continue`), and the body only when the server asks for
    /// it, or has said nothing for `timeouts.continue`. It may refuse the request without having been sent the
    /// body. Means nothing for a request without one.
    public var expectsContinue: Bool {
        get { exchangeOptions.expectsContinue }
        set { exchangeOptions.expectsContinue = newValue }
    }

    /// The protocols to switch to, if the server will (`Upgrade`), the most welcome first. It agrees by
    /// answering 101; the connection is then to be had by `Response.takeStream`.
    public var upgrade: [String] {
        get { exchangeOptions.upgrade }
        set { exchangeOptions.upgrade = newValue }
    }

    /// Called for each interim response, such as 103 (Early Hints), but not for 100 (Continue). It runs before
    /// anything more is read, so it must not block.
    public var onInterim: (@Sendable (ResponseHead) -> Void)? {
        get { exchangeOptions.onInterim }
        set { exchangeOptions.onInterim = newValue }
    }

    /// Called whenever some of the body has been sent; begins anew where the request is sent again. It must not
    /// block.
    public var onUpload: (@Sendable (TransferProgress) -> Void)? {
        get { exchangeOptions.onUpload }
        set { exchangeOptions.onUpload = newValue }
    }

    /// Called whenever some of the response's body has been received, before it is decoded; begins anew with
    /// each response. It must not block.
    public var onDownload: (@Sendable (TransferProgress) -> Void)? {
        get { exchangeOptions.onDownload }
        set { exchangeOptions.onDownload = newValue }
    }

    /// The same request without `Expect`, if that is what the server refused (417): to be sent once more.
    func withoutExpectation(after status: Status) -> Request? {
        guard status == .expectationFailed, expectsContinue, body.isReplayable else { return nil }
        var request = self
        request.expectsContinue = false
        return request
    }

    /// What it asks for of this, if anything.
    var asked: ExchangeOptions.Box? { hasOptions ? options.exchange : nil }

    private var exchangeOptions: ExchangeOptions {
        get { options.exchange?.options ?? ExchangeOptions() }
        set { options.exchange = ExchangeOptions.Box(newValue) }
    }
}
