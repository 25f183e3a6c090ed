#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A proxy for tests. It supports CONNECT (RFC 9110, section 9.3.6) and SOCKS version 5 (RFC 1928, RFC 1929),
/// and connects only to the configured addresses on loopback.
public struct FixtureProxy: Sendable {
    /// Maps each allowed target to the address to connect to, for example "a.test:443" or "127.0.0.2:4443" to
    /// "127.0.0.1:4443". Other targets are refused.
    public var routes: [String: String]
    /// The required credentials as "user:password". `nil` admits every client.
    public var credentials: String?
    /// Returns the challenge to refuse the value of `Proxy-Authorization` with, and `nil` to admit it. The
    /// value is `nil` if the request has none. The closure is `nil` to ask only for ``credentials``.
    public var challenge: (@Sendable (String?) -> String?)?
    /// The refusal to send instead of connecting to the target. `nil` sends none.
    public var refusal: Refusal?

    /// A reply that is not a success.
    public enum Refusal: Sendable {
        /// A complete HTTP response to CONNECT.
        case response(String)
        /// The reply code of SOCKS version 5.
        case reply(UInt8)
    }

    /// Creates a proxy.
    ///
    /// - Parameter routes: The allowed targets and the addresses to connect to for them.
    /// - Parameter credentials: The required credentials as "user:password", or `nil` to admit every client.
    /// - Parameter refusal: The refusal to send instead of connecting, or `nil`.
    public init(_ routes: [String: String], credentials: String? = nil, refusal: Refusal? = nil) {
        self.routes = routes
        self.credentials = credentials
        self.refusal = refusal
    }
}

/// One client connection to the proxy.
///
/// It reads the request (SOCKS if the first byte is 5, else CONNECT), connects to the target, answers, and
/// then relays bytes in both directions until one side ends. A client that is refused gets the refusal, and
/// the connection is closed.
struct ProxySession {
    let connection: FixtureConnection
    let proxy: FixtureProxy

    /// Serves the connection to its end.
    func run() throws(ConnectionEnd) -> ConnectionEnd {
        try connection.handshake()
        let isSOCKS = try byte(0) == 5
        guard let target = isSOCKS ? try answerSOCKS() : try answerCONNECT() else { return .serverClosed }
        defer { close(target) }
        return try relay(target)
    }

    /// Connects to the target, sends these bytes, and relays.
    func tunnel(_ bytes: [UInt8], to target: String) throws(ConnectionEnd) -> ConnectionEnd {
        guard let socket = connect(target) else { return .serverClosed }
        defer { close(socket) }
        try connection.send(bytes)
        return try relay(socket)
    }

    /// Reads a CONNECT request and answers it. Returns the connected socket, or `nil` if the request was
    /// refused.
    private func answerCONNECT() throws(ConnectionEnd) -> Int32? {
        while !connection.buffer.contains([13, 10, 13, 10]) { try connection.fill() }
        guard let end = connection.buffer.firstRange(of: [13, 10, 13, 10]) else { return nil }
        let head = String(decoding: connection.drop(end.upperBound), as: UTF8.self)
        let lines = head.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        if case .response(let text)? = proxy.refusal { return try refuse(text) }
        if let credentials = proxy.credentials {
            let wanted = "proxy-authorization: basic \(base64(credentials))".lowercased()
            guard lines.contains(where: { $0.lowercased() == wanted }) else {
                let challenge =
                    "Proxy-Authenticate: Basic realm=\"fixture\"\r\nContent-Length: 7\r\n\r\nwho? me"
                return try refuse("HTTP/1.1 407 Proxy Authentication Required\r\n\(challenge)")
            }
        }
        let field = "proxy-authorization: "
        let value = lines.first { $0.lowercased().hasPrefix(field) }.map { String($0.dropFirst(field.count)) }
        if let challenge = proxy.challenge?(value) {
            let fields = "Proxy-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n"
            return try refuse("HTTP/1.1 407 Proxy Authentication Required\r\n\(fields)")
        }
        guard words.count == 3, words[0] == "CONNECT" else {
            let fields = "Allow: CONNECT\r\nContent-Length: 0\r\n\r\n"
            return try refuse("HTTP/1.1 405 Method Not Allowed\r\n\(fields)")
        }
        guard let target = connect(String(words[1])) else {
            return try refuse("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 8\r\n\r\nno route")
        }
        try connection.send(Array("HTTP/1.1 200 Connected\r\n\r\n".utf8))
        return target
    }

    private func refuse(_ response: String) throws(ConnectionEnd) -> Int32? {
        try connection.send(Array(response.utf8))
        return nil
    }

    /// Reads a SOCKS request and answers it. Returns the connected socket, or `nil` if the request was
    /// refused.
    private func answerSOCKS() throws(ConnectionEnd) -> Int32? {
        let methods = try take(2 + Int(try byte(1))).dropFirst(2)
        let method: UInt8 = proxy.credentials == nil ? 0 : 2
        guard methods.contains(method) else { return try refuse([5, 0xFF]) }
        try connection.send([5, method])
        if let credentials = proxy.credentials {
            let user = try take(2 + Int(try byte(1))).dropFirst(2)
            let password = try take(1 + Int(try byte(0))).dropFirst()
            let isRight = "\(text(user)):\(text(password))" == credentials
            try connection.send([1, isRight ? 0 : 1])
            guard isRight else { return nil }
        }
        let kind = try take(4)[3]
        let host: String
        switch kind {
        case 1: host = try take(4).map { "\($0)" }.joined(separator: ".")
        case 4: host = "[\(addressText(try take(16)))]"
        default: host = text(try take(1 + Int(try byte(0))).dropFirst())
        }
        let port = try take(2)
        if case .reply(let code)? = proxy.refusal { return try refuse([5, code, 0, 1, 0, 0, 0, 0, 0, 0]) }
        guard let target = connect("\(host):\(Int(port[0]) << 8 | Int(port[1]))") else {
            return try refuse([5, 4, 0, 1, 0, 0, 0, 0, 0, 0])
        }
        // The bound address is a name, since a client must not assume that every reply is ten bytes long.
        try connection.send([5, 0, 0, 3, 5] + Array("bound".utf8) + [0, 80])
        return target
    }

    private func refuse(_ bytes: [UInt8]) throws(ConnectionEnd) -> Int32? {
        try connection.send(bytes)
        return nil
    }

    /// Relays bytes in both directions until one side ends.
    private func relay(_ target: Int32) throws(ConnectionEnd) -> ConnectionEnd {
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
        defer { chunk.deallocate() }
        while true {
            if !connection.buffer.isEmpty {
                let bytes = connection.drop(connection.buffer.count)
                guard bytes.withUnsafeBytes({ sendAll(target, bytes: $0) }) else { return .serverReset }
            }
            // Bytes that TLS has already read from the socket do not make the descriptor readable. If they
            // are only part of a record, the client is about to send the rest, whatever the target does, so
            // it is safe to block here.
            if connection.wire.hasPending {
                try connection.fill()
                continue
            }
            let isReady = Sockets.waitReadable([connection.wire.socket, target])
            if isReady[1] {
                let count = Sockets.receive(target, bytes: chunk)
                guard count > 0 else { return count == 0 ? .serverCut : .serverReset }
                try connection.wire.send(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
            }
            if isReady[0] { try connection.fill() }
        }
    }

    private func sendAll(_ target: Int32, bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
        while rest.count > 0 {
            let count = Sockets.send(target, bytes: rest)
            guard count > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    /// Connects to the address that the routes give for a target. Returns `nil` if there is none or
    /// connecting fails.
    private func connect(_ asked: String) -> Int32? {
        guard let route = proxy.routes[asked], let colon = route.lastIndex(of: ":"),
            let port = UInt16(route[route.index(after: colon)...])
        else { return nil }
        let text = route[..<colon].filter { $0 != "[" && $0 != "]" }
        guard let address = try? LoopbackAddress(text, port: port),
            let descriptor = try? Sockets.make(family: address.family)
        else { return nil }
        guard address.withSockaddr({ connectSocket(descriptor, address: $0, length: $1) }) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Returns the unread byte at this index without consuming it.
    private func byte(_ index: Int) throws(ConnectionEnd) -> UInt8 {
        while connection.buffer.count <= index { try connection.fill() }
        return connection.buffer[index]
    }

    private func take(_ count: Int) throws(ConnectionEnd) -> [UInt8] {
        while connection.buffer.count < count { try connection.fill() }
        return connection.drop(count)
    }

    private func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: Array(bytes), as: UTF8.self)
    }

    private func addressText(_ bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

private func connectSocket(_ socket: Int32, address: UnsafePointer<sockaddr>, length: socklen_t) -> Int32 {
    connect(socket, address, length)
}

private func base64(_ text: String) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    let bytes = Array(text.utf8)
    var result = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let part = bytes[start..<min(start + 3, bytes.count)]
        let number = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
        for place in 0..<4 {
            result.append(place <= part.count ? letters[number >> (18 - 6 * place) & 63] : "=")
        }
    }
    return result
}
