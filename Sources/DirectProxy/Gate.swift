internal import DirectCore
internal import DirectHTTP1
internal import DirectTransport

/// Decides which programs may use the proxy.
struct Gate: Sendable {
    /// The credentials that programs have to send; `nil` if any program may come in.
    let credentials: Proxy.Credentials?

    /// Makes new credentials, if the settings ask for any.
    init(_ access: LocalProxy.Access) {
        guard access == .credentials else {
            credentials = nil
            return
        }
        let words = [SystemRandom.word(), SystemRandom.word()]
        let secret = words.map { Hex.encode(padded: $0) }.joined()
        credentials = Proxy.Credentials(user: "direct", password: secret)
    }

    /// Whether the request has the credentials (RFC 7617).
    func admits(_ headers: HTTPHeaders) -> Bool {
        guard credentials != nil else { return true }
        let fields = headers.values(for: "proxy-authorization")
        let parts = fields.first?.split(separator: " ", maxSplits: 1) ?? []
        guard fields.count == 1, parts.count == 2, parts[0].lowercased() == "basic",
            let given = Base64.decode(parts[1].drop { $0 == " " })
        else { return false }
        return admits(given)
    }

    /// Whether these are the user and the password (RFC 1929).
    func admits(user: ArraySlice<UInt8>, password: ArraySlice<UInt8>) -> Bool {
        admits(user + [UInt8(ascii: ":")] + password)
    }

    /// Compares in a time that depends on the lengths alone, which are no secret.
    private func admits(_ given: some Collection<UInt8>) -> Bool {
        guard let credentials else { return true }
        let expected = Array("\(credentials.user):\(credentials.password)".utf8)
        guard given.count == expected.count else { return false }
        return zip(given, expected).reduce(into: UInt8(0)) { $0 |= $1.0 ^ $1.1 } == 0
    }
}
