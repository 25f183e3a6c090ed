internal import DirectCore
internal import DirectHTTP1

/// The file by which browsers are told of the proxy (proxy auto-configuration): the one thing that it serves
/// itself. It names no way round the proxy.
enum PACFile {
    static let path = "/proxy.pac"

    /// Whether the request asks for it, under the address at which it came. Under a name it could come from a
    /// page whose name leads here.
    static func isAskedFor(by request: ReceivedRequest, at place: Endpoint) -> Bool {
        let host = Target(authority: Array((request.headers["host"] ?? "").utf8), mayOmitPort: true)?.host
        guard let address = host?.address?.unmapped else { return false }
        return request.method == .get && request.target == Array(path.utf8)
            && (address.isLoopback || address == place.address.withoutZone.unmapped)
    }

    static func response(for proxy: Endpoint) -> [UInt8] {
        let file = "function FindProxyForURL(url, host) { return \"PROXY \(proxy)\"; }\n"
        let fields = "Content-Type: application/x-ns-proxy-autoconfig\r\nCache-Control: no-store"
        return Refusal.answer("200 OK", fields, file)
    }
}
