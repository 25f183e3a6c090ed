public import DirectHTTP1

/// Options of an exchange that few requests set, kept apart so that the other requests stay small.
struct ExchangeOptions: Sendable {
    var expectsContinue = false
    var upgrade: [String] = []
    var onInterim: (@Sendable (ResponseHead) -> Void)?
    var onUpload: (@Sendable (TransferProgress) -> Void)?
    var onDownload: (@Sendable (TransferProgress) -> Void)?

    /// Reports the progress of a body that was sent together with its head.
    func reportUpload(of body: RequestBody) {
        guard let onUpload, case .bytes(let bytes) = body.content else { return }
        onUpload(TransferProgress(bytes: UInt64(bytes.count), total: UInt64(bytes.count)))
    }

    /// Holds the options by reference.
    final class Box: Sendable {
        let options: ExchangeOptions

        init(_ options: ExchangeOptions) {
            self.options = options
        }
    }
}

/// The progress of a body that is sent or received.
public struct TransferProgress: Hashable, Sendable {
    /// Bytes of content so far, as they are on the wire.
    public let bytes: UInt64
    /// The total number of bytes; `nil` if it is unknown.
    public let total: UInt64?

    /// Makes a progress value.
    public init(bytes: UInt64, total: UInt64?) {
        self.bytes = bytes
        self.total = total
    }
}

extension Request {
    /// Whether to send the head alone first (`Expect: 100-continue`), and the body when the server asks for it or
    /// when ``Timeouts/continue`` has passed. The server can refuse the request before the body is sent. Has no
    /// effect on a request without a body.
    public var expectsContinue: Bool {
        get { exchangeOptions.expectsContinue }
        set { exchangeOptions.expectsContinue = newValue }
    }

    /// The protocols to switch to if the server agrees (`Upgrade`), the preferred one first. The server agrees with
    /// 101; ``Response/takeStream()`` then returns the connection.
    public var upgrade: [String] {
        get { exchangeOptions.upgrade }
        set { exchangeOptions.upgrade = newValue }
    }

    /// Called for each interim response, such as 103 (Early Hints), but not for 100 (Continue). Nothing more is
    /// read until it returns, so it must not block.
    public var onInterim: (@Sendable (ResponseHead) -> Void)? {
        get { exchangeOptions.onInterim }
        set { exchangeOptions.onInterim = newValue }
    }

    /// Called whenever part of the body has been sent; starts again from zero if the request is sent again. It must
    /// not block.
    public var onUpload: (@Sendable (TransferProgress) -> Void)? {
        get { exchangeOptions.onUpload }
        set { exchangeOptions.onUpload = newValue }
    }

    /// Called whenever part of the response's body has been received, before it is decoded; starts again from zero
    /// with each response. It must not block.
    public var onDownload: (@Sendable (TransferProgress) -> Void)? {
        get { exchangeOptions.onDownload }
        set { exchangeOptions.onDownload = newValue }
    }

    /// Returns the request without `Expect` if the server refused that (417) and the request may be sent again;
    /// else `nil`.
    func withoutExpectation(after status: HTTPStatus) -> Request? {
        guard status == .expectationFailed, expectsContinue, body.isReplayable else { return nil }
        var request = self
        request.expectsContinue = false
        return request
    }

    /// The exchange options; `nil` if none is set.
    var asked: ExchangeOptions.Box? { hasOptions ? options.exchange : nil }

    private var exchangeOptions: ExchangeOptions {
        get { options.exchange?.options ?? ExchangeOptions() }
        set { options.exchange = ExchangeOptions.Box(newValue) }
    }
}
