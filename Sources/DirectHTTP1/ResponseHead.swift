/// A minor version of HTTP/1.
public enum HTTPVersion: Hashable, Sendable {
    /// HTTP/1.0 (RFC 1945).
    case http10
    /// HTTP/1.1 (RFC 9112).
    case http11
}

extension HTTPVersion: CustomStringConvertible {
    /// The version as in a status line.
    public var description: String {
        switch self {
        case .http10: "HTTP/1.0"
        case .http11: "HTTP/1.1"
        }
    }
}

/// The status line and header fields of a response.
package struct ResponseHead: Hashable, Sendable {
    /// The status code.
    package let status: HTTPStatus
    /// The version in the response's status line. A minor version later than 1 counts as 1.1.
    package let version: HTTPVersion
    /// The header fields.
    package let headers: HTTPHeaders

    /// Creates a head that was not received. The reason may be empty, as it may in a received one.
    package init(
        status: HTTPStatus,
        reason: String = "",
        version: HTTPVersion = .http11,
        headers: HTTPHeaders = HTTPHeaders()
    ) {
        self.status = status
        self.version = version
        self.headers = headers.carrying(reason: reason)
    }

    /// A received head, whose block holds the reason phrase, too.
    @inline(__always)
    init(status: HTTPStatus, version: HTTPVersion, received headers: HTTPHeaders) {
        self.status = status
        self.version = version
        self.headers = headers
    }

    /// The reason phrase that the server sent with the status. Often empty, and never to be relied on.
    package var reason: String {
        guard let block = headers.block, !block.counts.reason.isEmpty else { return "" }
        let reason = block.counts.reason
        return unsafe String(
            fieldText: UnsafeBufferPointer(start: block.bytes + Int(reason.lowerBound), count: reason.count)
        )
    }
}

extension HTTPHeaders {
    /// Returns the same fields in a block that has this reason phrase after its other bytes.
    fileprivate func carrying(reason: String) -> HTTPHeaders {
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
            return HTTPHeaders(block: own)
        }
    }
}
