public import DirectHTTP
internal import DirectIO

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPClient.Settings {
    /// Cookies come from this storage and go there, for every request that reaches the network.
    ///
    /// They belong to the name in the URL, wherever the bytes go. Which cookie a server may set and which request it
    /// goes with is decided by the rules of `CookieJar`, as Foundation's own are broken on Linux; the storage only
    /// stores. A `URLRequest` whose `httpShouldHandleCookies` is false neither gets nor leaves any. Take this or
    /// `cookies`, not both: `cookies` knows nothing of that flag.
    public mutating func useCookies(of storage: HTTPCookieStorage) {
        let shelf = CookieShelf(storage)
        networkInterceptors.append { request, forward in
            guard !CookieShelf.isClosed else { return try await forward(request) }
            var request = request
            let url = try request.url
            shelf.addField(to: &request.headers, for: url)
            let response = try await forward(request)
            shelf.keep(response.headers, from: url)
            return response
        }
    }
}

extension Cookie {
    /// The same cookie; nothing if it is one that no server may set.
    public init?(_ cookie: HTTPCookie) {
        let coversSubdomains = cookie.domain.hasPrefix(".")
        let domain = coversSubdomains ? String(cookie.domain.dropFirst()) : cookie.domain
        guard let host = try? DirectHTTP.Host(domain) else { return nil }
        try? self.init(
            cookie.name,
            cookie.value,
            for: host,
            coversSubdomains: coversSubdomains,
            path: cookie.path,
            expiry: cookie.expiresDate.map { UnixTime(seconds: Int64(clamping: $0)) },
            isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly
        )
    }
}

extension HTTPCookie {
    /// The same cookie for Foundation.
    public convenience init?(_ cookie: Cookie) {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: cookie.name, .value: cookie.value, .path: cookie.path,
            .domain: cookie.coversSubdomains ? ".\(cookie.host)" : "\(cookie.host)",
        ]
        if let expiry = cookie.expiry {
            properties[.expires] = Date(timeIntervalSince1970: TimeInterval(expiry.seconds))
        }
        if cookie.isSecure { properties[.secure] = "TRUE" }
        if cookie.isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        self.init(properties: properties)
    }
}

/// A storage of Foundation's, with the rules of our jar.
struct CookieShelf: @unchecked Sendable {
    /// Set for a `URLRequest` whose `httpShouldHandleCookies` is false.
    @TaskLocal static var isClosed = false

    // Thread-safe by its documentation, but not marked so everywhere.
    private let storage: HTTPCookieStorage

    init(_ storage: HTTPCookieStorage) {
        self.storage = storage
    }

    /// Puts the cookies for a request into its headers, behind the caller's own.
    func addField(to headers: inout Headers, for url: HTTPURL) {
        jar?.addField(to: &headers, for: url, at: .now)
    }

    /// Keeps what the response to a request for this URL sets.
    func keep(_ headers: Headers, from url: HTTPURL) {
        guard headers.contains("Set-Cookie"), storage.cookieAcceptPolicy != .never else { return }
        let jar = jar ?? CookieJar()
        let before = Set(jar.cookies)
        jar.take(headers, from: url, at: .now)
        let after = Set(jar.cookies)
        for cookie in before.subtracting(after).compactMap(HTTPCookie.init) { storage.deleteCookie(cookie) }
        for cookie in after.subtracting(before).compactMap(HTTPCookie.init) { storage.setCookie(cookie) }
    }

    /// All that the storage holds, in a jar that knows whom each is for.
    private var jar: CookieJar? {
        guard let cookies = storage.cookies, !cookies.isEmpty else { return nil }
        let jar = CookieJar()
        for cookie in cookies.compactMap(Cookie.init) { jar.add(cookie) }
        return jar
    }
}

extension Int64 {
    fileprivate init(clamping date: Date) {
        self = Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? .max
    }
}
