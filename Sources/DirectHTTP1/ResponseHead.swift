/// A version of HTTP/1.
public enum HTTPVersion: Hashable, Sendable {
    case http10
    case http11
}

extension HTTPVersion: CustomStringConvertible {
    /// As in a status line.
    public var description: String {
        switch self {
        case .http10: "HTTP/1.0"
        case .http11: "HTTP/1.1"
        }
    }
}

/// What a response says before its content: status line and header fields.
public struct ResponseHead: Hashable, Sendable {
    /// The result, as a number.
    public let status: Status
    /// The version that the server spoke.
    public let version: HTTPVersion
    /// The header fields.
    public let headers: Headers

    /// A head that was not received; the reason may be left out, as servers may.
    public init(
        status: Status,
        reason: String = "",
        version: HTTPVersion = .http11,
        headers: Headers = Headers()
    ) {
        self.status = status
        self.version = version
        self.headers = headers.carrying(reason: reason)
    }

    /// A head that was received: its block holds the reason, too.
    @inline(__always)
    init(status: Status, version: HTTPVersion, received headers: Headers) {
        self.status = status
        self.version = version
        self.headers = headers
    }

    /// The server's words for the status; often empty, and never to be relied on.
    public var reason: String {
        guard let block = headers.block, !block.counts.reason.isEmpty else { return "" }
        let reason = block.counts.reason
        return unsafe String(
            fieldText: UnsafeBufferPointer(start: block.bytes + Int(reason.lowerBound), count: reason.count)
        )
    }
}

extension Headers {
    /// The same fields in a block that has this reason phrase behind its other bytes.
    fileprivate func carrying(reason: String) -> Headers {
        if reason.isEmpty && (block?.counts.reason.isEmpty ?? true) { return self }
        var reason = reason
        return reason.withUTF8 { reason in
            let fields = block?.counts.fields ?? 0
            let start = block?.counts.bytes ?? 0
            let own =
                block?.copy(fieldCapacity: fields, byteCapacity: start + reason.count)
                ?? .make(fieldCapacity: 0, byteCapacity: reason.count)
            if let source = reason.baseAddress {
                unsafe (own.bytes + start).initialize(from: source, count: reason.count)
            }
            own.counts.bytes = start + reason.count
            own.counts.areLines = false
            own.counts.reason = UInt32(start)..<UInt32(start + reason.count)
            return Headers(block: own)
        }
    }
}
