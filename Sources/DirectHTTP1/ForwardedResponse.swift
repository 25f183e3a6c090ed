/// The head of a response as a proxy sends it on (RFC 9110, section 7.6; RFC 9112, section 6.3).
package struct ForwardedResponse {
    /// The head, as bytes.
    package let head: [UInt8]
    /// Whether the content is sent in chunks.
    package let isChunked: Bool
    /// Whether the end of the connection is the end of the content, for the client.
    package let endsByClose: Bool
    /// Whether another request may follow on the client's connection.
    package let persists: Bool

    /// Makes the head anew of its parts.
    ///
    /// - Parameters:
    ///   - proxy: What the proxy calls itself in Via.
    ///   - mayPersist: Whether the proxy can take another request behind it.
    package init(
        _ response: ResponseHead,
        framing: ResponseFraming,
        to request: ReceivedRequest,
        by proxy: String,
        mayPersist: Bool = true
    ) {
        let switches = response.status == .switchingProtocols
        isChunked = framing == .chunked && request.version == .http11
        endsByClose = framing == .untilClose || framing == .chunked && !isChunked
        persists = mayPersist && request.persists && !endsByClose && !switches
        var text = Array("HTTP/1.1 \(response.status.code) ".utf8)
        // The reason was checked as it was read; it is not repeated where it is no ASCII.
        text += response.reason.utf8.allSatisfy({ $0 < 0x7F }) ? Array(response.reason.utf8) : []
        let headers = response.headers.passedOn(withUpgrade: switches, without: ["content-length"])
        for index in headers.indices {
            text += Array("\r\n\(headers[index].name): ".utf8) + headers.valueBytes(at: index)
        }
        text += Array("\r\nVia: 1.1 \(proxy)".utf8)
        if let length = Self.length(of: response, framing: framing) {
            text += Array("\r\nContent-Length: \(length)".utf8)
        }
        if isChunked { text += Array("\r\nTransfer-Encoding: chunked".utf8) }
        if switches {
            text += Array("\r\nConnection: upgrade".utf8)
        } else if !response.status.isInformational {
            if !persists { text += Array("\r\nConnection: close".utf8) }
            if persists, request.version == .http10 { text += Array("\r\nConnection: keep-alive".utf8) }
        }
        head = text + Array("\r\n\r\n".utf8)
    }

    /// The value of Content-Length: of the content that follows, or that would follow (HEAD, 304).
    private static func length(of response: ResponseHead, framing: ResponseFraming) -> String? {
        switch framing {
        case .length(let length): return "\(length)"
        case .chunked, .untilClose, .tunnel: return nil
        case .none:
            guard !response.status.isInformational, response.status != .noContent else { return nil }
            guard response.headers.index(of: "transfer-encoding") == nil else { return nil }
            let text = response.headers["content-length"] ?? ""
            return UInt64(text).map { "\($0)" }
        }
    }
}
