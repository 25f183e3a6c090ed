public import DirectHTTP
internal import DirectIO

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPClient.Settings {
    /// Cookies come from this storage and go there, in the place of a `CookieJar`.
    ///
    /// They belong to the name in the URL, wherever the bytes go. Which cookie a server may set and which request it
    /// goes with is decided by the rules of `CookieJar`, as Foundation's own are broken on Linux; the storage only
    /// stores.
    public mutating func useCookies(of storage: HTTPCookieStorage) {
        cookies = FoundationCookies(storage)
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

/// A storage of Foundation's as a store that goes by the rules of `CookieJar`.
final class FoundationCookies: CookieStore, CustomReflectable, @unchecked Sendable {
    // Thread-safe by its documentation, but not marked so everywhere.
    private let storage: HTTPCookieStorage
    /// Held from looking at what is stored to changing it.
    private let change = Locked(())

    init(_ storage: HTTPCookieStorage) {
        self.storage = storage
    }

    func cookies(for url: HTTPURL) -> [Cookie] {
        jar?.cookies(for: url) ?? []
    }

    func take(_ headers: Headers, from url: HTTPURL) {
        guard headers.contains("Set-Cookie"), storage.cookieAcceptPolicy != .never else { return }
        change.withLock { _ in
            let jar = jar ?? CookieJar()
            let before = Set(jar.cookies)
            jar.take(headers, from: url)
            let after = Set(jar.cookies)
            for cookie in before.subtracting(after).compactMap(HTTPCookie.init) {
                storage.deleteCookie(cookie)
            }
            for cookie in after.subtracting(before).compactMap(HTTPCookie.init) { storage.setCookie(cookie) }
        }
    }

    /// Never shows what is stored.
    var customMirror: Mirror { Mirror(self, children: []) }

    /// All that the storage holds, in a jar that knows which hosts each is for; `nil` if it holds nothing.
    private var jar: CookieJar? {
        guard let cookies = storage.cookies, !cookies.isEmpty else { return nil }
        let jar = CookieJar()
        for cookie in cookies.compactMap(Cookie.init) { jar.add(cookie) }
        return jar
    }
}

/// Two stores for the same requests, such as a session's and the client's own.
final class JoinedCookies: CookieStore {
    private let first: any CookieStore
    private let second: any CookieStore

    init(_ first: any CookieStore, _ second: any CookieStore) {
        self.first = first
        self.second = second
    }

    /// Those of the second store follow, but for names that the first one has.
    func cookies(for url: HTTPURL) -> [Cookie] {
        let cookies = first.cookies(for: url)
        let names = Set(cookies.map(\.name))
        return cookies + second.cookies(for: url).filter { !names.contains($0.name) }
    }

    func take(_ headers: Headers, from url: HTTPURL) {
        first.take(headers, from: url)
        second.take(headers, from: url)
    }
}

/// For a request that neither carries nor leaves cookies.
final class NoCookies: CookieStore {
    func cookies(for url: HTTPURL) -> [Cookie] { [] }

    func take(_ headers: Headers, from url: HTTPURL) {}
}

extension Int64 {
    fileprivate init(clamping date: Date) {
        self = Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? .max
    }
}
