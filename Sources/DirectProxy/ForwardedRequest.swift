internal import DirectCore
internal import DirectHTTP1

/// A request in absolute form as it is sent on (RFC 9112, section 3.2.2; RFC 9110, section 7.6).
struct ForwardedRequest {
    let target: Target
    /// The head, as bytes.
    let head: [UInt8]
    /// Whether it asks to switch protocols.
    let upgrades: Bool
    private let method: HTTPMethod

    /// Makes the request to send on: of its parts, not of its bytes. It has one framing, the host of its
    /// URL, none of the fields for this proxy, and path and query as they came.
    init(_ request: ReceivedRequest) throws(Refusal) {
        method = request.method
        let (target, path) = try Self.parts(of: request)
        self.target = target
        guard request.method != .trace else { throw .noTrace }
        let fields = HopFields(request.headers)
        upgrades = fields.upgrades && request.version == .http11 && !request.framing.hasContent
        var headers = HTTPHeaders()
        for index in request.headers.indices
        where fields.passes(index, of: request.headers, upgrade: upgrades) {
            let name = request.headers[index].name.lowercased()
            if !Self.rewritten.contains(name) { headers.add(fieldAt: index, of: request.headers) }
        }
        if let left = try Self.forwardsLeft(request) { headers.add("Max-Forwards", "\(left - 1)") }
        headers.add("Via", request.version == .http10 ? "1.0 direct-proxy" : "1.1 direct-proxy")
        let head = RequestHead(
            request.method,
            target: path,
            authority: target.url.authorityBytes,
            headers: headers
        )
        let expects = try Self.expectsContinue(request)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: head.sizeBound, alignment: 1)
        defer { unsafe buffer.deallocate() }
        do throws(HTTP1Error) {
            let count = try unsafe RequestWriter.writeHead(
                head,
                framing: request.framing,
                announcing: .init(expectContinue: expects, upgrade: upgrades),
                into: buffer
            )
            self.head = unsafe Array(buffer[..<count])
        } catch {
            throw Refusal(.message(error))
        }
    }

    /// The fields that the writer makes, or that are for this proxy.
    private static let rewritten = ["host", "content-length", "expect", "max-forwards", "te"]

    private static func parts(of request: ReceivedRequest) throws(Refusal) -> (Target, path: [UInt8]) {
        // A client of HTTP/1.1 names a host, once, although the URL's counts (RFC 9112, section 3.2).
        let hosts = request.headers.index(of: "host")
        guard hosts != nil || request.version == .http10 else { throw .noHost }
        if let hosts {
            guard request.headers.index(of: "host", from: hosts + 1) == nil else { throw .noHost }
        }
        let scheme = Array("http://".utf8)
        let text = request.target
        guard text.count > scheme.count,
            zip(text, scheme).allSatisfy({ $0 == $1 || ($1 >= 0x61 && $0 | 0x20 == $1) }),
            !text.contains(UInt8(ascii: "#"))
        else { throw .notAbsolute }
        let rest = text[scheme.count...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        guard let target = Target(authority: Array(rest[..<end]), defaultPort: 80) else { throw .notAbsolute }
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
        guard request.version == .http11, request.headers.index(of: "expect") != nil else { return false }
        guard request.headers.lists("100-continue", in: "expect"),
            request.headers.values(for: "expect").count == 1
        else { throw .unknownExpectation }
        return request.framing.hasContent
    }
}

/// The fields of a message that are for the next recipient alone (RFC 9110, section 7.6.1).
struct HopFields {
    /// Whether the message asks for, or agrees to, another protocol.
    let upgrades: Bool
    private let named: [String]

    init(_ headers: HTTPHeaders) {
        named = headers.values(for: "connection").flatMap { value in
            value.split(separator: ",").map { element in
                element.lowercased().filter { $0 != " " && $0 != "\t" }
            }
        }
        upgrades = named.contains("upgrade") && headers.index(of: "upgrade") != nil
    }

    /// Whether the field is sent on.
    func passes(_ index: Int, of headers: HTTPHeaders, upgrade: Bool) -> Bool {
        let name = headers[index].name.lowercased()
        if name == "upgrade" { return upgrade }
        return !Self.ofHop.contains(name) && !named.contains(name)
    }

    private static let ofHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate",
        "proxy-authentication-info", "transfer-encoding", "upgrade",
    ]
}

extension Refusal {
    static let notAbsolute = Refusal(
        kind: .malformed,
        line: "a proxy takes CONNECT, or an http URL such as http://www.example.com/; https goes by CONNECT"
    )
    fileprivate static let noHost = Refusal(
        kind: .malformed,
        line: "a request of HTTP/1.1 has one Host field"
    )
    fileprivate static let noTrace = Refusal(kind: .unsupported, line: "TRACE is not forwarded")
    fileprivate static let noForwardsLeft = Refusal(kind: .unsupported, line: "Max-Forwards is used up here")
    fileprivate static let unknownExpectation = Refusal(
        kind: .malformed,
        line: "of Expect the proxy knows 100-continue alone"
    )
}
