internal import DirectCore
internal import DirectHTTP1

/// A request in absolute form as it is sent on (RFC 9112, section 3.2.2; RFC 9110, section 7.6).
struct ForwardedRequest {
    let target: Target
    /// The head, as bytes.
    let head: [UInt8]
    /// Whether it asks to switch protocols.
    let upgrades: Bool
    /// Whether it may wait for an invitation before its content.
    let expects: Bool

    /// Makes the request to send on: of its parts, not of its bytes. It has one framing, the host of its
    /// URL, none of the fields for this proxy, and path and query as they came.
    init(_ request: ReceivedRequest) throws(Refusal) {
        let (target, path) = try Self.parts(of: request)
        self.target = target
        guard request.method != .trace else { throw .noTrace }
        upgrades =
            request.headers.areForUpgrade && request.version == .http11 && !request.framing.hasContent
        var headers = request.headers.passedOn(withUpgrade: upgrades, without: Self.rewritten)
        if let left = try Self.forwardsLeft(request) { headers.add("Max-Forwards", "\(left - 1)") }
        headers.add("Via", request.version == .http10 ? "1.0 direct-proxy" : "1.1 direct-proxy")
        let head = RequestHead(
            request.method,
            target: path,
            authority: target.url.authorityBytes,
            headers: headers
        )
        expects = try Self.expectsContinue(request)
        do throws(HTTP1Error) {
            let announced = RequestHead.Announcements(expectContinue: expects, upgrade: upgrades)
            self.head = try RequestWriter.head(head, framing: request.framing, announcing: announced)
        } catch {
            throw Refusal(.message(error))
        }
    }

    /// The fields that the writer makes, or that are for this proxy.
    private static let rewritten: Set<String> = ["host", "content-length", "expect", "max-forwards", "te"]

    private static func parts(of request: ReceivedRequest) throws(Refusal) -> (Target, path: [UInt8]) {
        // A client of HTTP/1.1 names a host, once, although the URL's counts (RFC 9112, section 3.2).
        let hosts = request.headers.values(for: "host").count
        guard hosts == 1 || hosts == 0 && request.version == .http10 else { throw .noHost }
        let text = request.target
        guard String(decoding: text.prefix(7), as: UTF8.self).lowercased() == "http://",
            !text.contains(UInt8(ascii: "#"))
        else { throw .notAbsolute }
        let rest = text.dropFirst(7)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        guard let target = Target(authority: Array(rest[..<end]), mayOmitPort: true) else {
            throw .notAbsolute
        }
        var path = Array(rest[end...])
        if path.isEmpty, request.method == .options { return (target, [UInt8(ascii: "*")]) }
        if path.first != UInt8(ascii: "/") { path.insert(UInt8(ascii: "/"), at: 0) }
        return (target, path)
    }

    /// The number of times that a request of OPTIONS may still be forwarded (RFC 9110, section 7.6.2).
    private static func forwardsLeft(_ request: ReceivedRequest) throws(Refusal) -> Int? {
        guard request.method == .options, let text = request.headers["max-forwards"] else { return nil }
        guard let number = Int(text), number > 0 else { throw .noForwardsLeft }
        return number
    }

    private static func expectsContinue(_ request: ReceivedRequest) throws(Refusal) -> Bool {
        let values = request.version == .http11 ? request.headers.values(for: "expect") : []
        guard values.isEmpty || values.map({ $0.lowercased() }) == ["100-continue"] else {
            throw .unknownExpectation
        }
        return !values.isEmpty && request.framing.hasContent
    }
}
