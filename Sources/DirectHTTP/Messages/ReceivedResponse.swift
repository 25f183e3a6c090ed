public import DirectHTTP1

/// What a server had answered before the request failed.
public struct ReceivedResponse: Sendable, CustomStringConvertible, CustomReflectable {
    /// The result.
    public let status: Status
    /// The header fields.
    public let headers: Headers
    /// The body, where it was being collected; empty where it was read piece by piece.
    public let body: [UInt8]

    init(_ head: ResponseHead, body: [UInt8]) {
        status = head.status
        headers = head.headers
        self.body = body
    }

    /// The status, and how long the body is.
    public var description: String { "\(status), \(body.count) bytes" }

    /// Never shows the values of fields, nor the body.
    public var customMirror: Mirror { Mirror(self, children: ["status": status, "headers": "\(headers)"]) }
}
