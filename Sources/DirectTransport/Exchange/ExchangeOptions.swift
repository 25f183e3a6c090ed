internal import DirectHTTP1

/// Options of an exchange that few requests set, kept apart so that the other requests stay small.
package struct ExchangeOptions: Sendable {
    package var expectsContinue = false
    /// Whether the request announces that its connection serves no other one.
    package var closes = false
    package var upgrade: [String] = []
    package var onInterim: (@Sendable (ReceivedResponse) -> Void)?
    package var onUpload: (@Sendable (TransferProgress) -> Void)?
    package var onDownload: (@Sendable (TransferProgress) -> Void)?
    /// The limits on the bytes of the body that is sent, and of the one that is received.
    package var sendingRate: RateLimit?
    package var receivingRate: RateLimit?

    package init() {}

    /// The announcements of the request's head.
    var announcements: RequestHead.Announcements {
        .init(expectContinue: expectsContinue, close: closes, upgrade: !upgrade.isEmpty)
    }

    /// Reports the progress of a body that was sent together with its head.
    func reportUpload(of content: BodyContent) {
        guard let onUpload, case .bytes(let bytes) = content else { return }
        onUpload(TransferProgress(bytes: UInt64(bytes.count), total: UInt64(bytes.count)))
    }

    /// Holds the options by reference.
    package final class Box: Sendable {
        package let options: ExchangeOptions

        package init(_ options: ExchangeOptions) {
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
