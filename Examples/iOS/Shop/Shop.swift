import AppHTTP
import Foundation

/// What the app has once.
enum Shop {
    /// Who chooses the addresses: HTTPDNS, and the system if that cannot be reached. Write your account and the
    /// addresses of the service here.
    static let resolver: any Resolver =
        Trial.current?.map
        ?? CachingResolver.forApp(account: "100000", servers: ["203.107.1.1", "203.107.1.97"])

    /// The client, which shares the cookies of sessions.
    static let client = HTTPClient {
        $0.resolver = resolver
        $0.timeouts.total = .seconds(30)
        if let root = Trial.current?.root { $0.tls.roots = .only([.pem(root)]) }
        $0.useCookies(of: .shared)
    }

    /// The proxy for web views; `nil` if it cannot listen.
    static let proxy = try? AppProxy(resolver)
}
