public import DirectHTTP1

/// A response beside the one that a call returns: the one that had arrived whole before its request failed, a
/// proxy's refusal, or an interim one.
public struct ReceivedResponse: Sendable, CustomStringConvertible, CustomReflectable {
    /// The status code.
    public let status: HTTPStatus
    /// The header fields.
    public let headers: HTTPHeaders
    /// The body if it was collected; empty if it was read piece by piece, and of an interim response. Of a
    /// proxy's refusal the beginning, at most 4096 bytes; of a response that `requiringSuccess` refused the
    /// beginning, as long as its caller has said.
    public let body: [UInt8]

    /// Makes a response, for an error that a test or an interceptor makes.
    public init(_ status: HTTPStatus, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package init(_ head: ResponseHead, body: [UInt8]) {
        status = head.status
        headers = head.headers
        self.body = body
    }

    /// The status, and the length of the body.
    public var description: String { "\(status), \(body.count) bytes" }

    /// Never shows header values or the body.
    public var customMirror: Mirror { Mirror(self, children: ["status": status, "headers": "\(headers)"]) }
}
