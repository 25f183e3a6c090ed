internal import DirectCore
public import DirectHTTP
internal import DirectIO

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPClient.Configuration {
    /// Takes cookies from this storage and stores them there, instead of in a ``CookieJar``.
    ///
    /// Cookies belong to the host in the URL, whatever address the request goes to. The rules of ``CookieJar``
    /// decide which cookies a server may set and which requests they are sent with, because Foundation's own rules
    /// are broken on Linux; the storage only stores.
    public mutating func useCookies(of storage: HTTPCookieStorage) {
        cookies = FoundationCookies(storage)
    }
}

extension Cookie {
    /// Converts a cookie of Foundation's; `nil` if it is one that no server may set.
    public init?(_ cookie: HTTPCookie) {
        let coversSubdomains = cookie.domain.hasPrefix(".")
        let domain = coversSubdomains ? String(cookie.domain.dropFirst()) : cookie.domain
        guard let host = try? DirectHTTP.HTTPHost(domain) else { return nil }
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
    /// Converts a cookie to Foundation's type; `nil` if Foundation refuses it.
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

/// A `CookieStore` that keeps its cookies in a storage of Foundation's and follows the rules of ``CookieJar``.
final class FoundationCookies: CookieStore, CustomReflectable, @unchecked Sendable {
    // The storage is thread-safe by its documentation, but not marked `Sendable` everywhere.
    private let storage: HTTPCookieStorage
    /// Held from reading the stored cookies until they are changed.
    private let change = Locked(())

    /// Creates a store on top of this storage.
    init(_ storage: HTTPCookieStorage) {
        self.storage = storage
    }

    func cookies(for url: HTTPURL) -> [Cookie] {
        jar?.cookies(for: url) ?? []
    }

    func take(_ headers: HTTPHeaders, from url: HTTPURL) {
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

    /// A mirror that never shows the cookies.
    var customMirror: Mirror { Mirror(self, children: []) }

    /// All cookies of the storage in a jar, which knows the hosts of each; `nil` if the storage is empty.
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

    /// Creates a store whose first part takes precedence.
    init(_ first: any CookieStore, _ second: any CookieStore) {
        self.first = first
        self.second = second
    }

    /// The cookies of the first store, then those of the second whose names the first does not have.
    func cookies(for url: HTTPURL) -> [Cookie] {
        let cookies = first.cookies(for: url)
        let names = Set(cookies.map(\.name))
        return cookies + second.cookies(for: url).filter { !names.contains($0.name) }
    }

    func take(_ headers: HTTPHeaders, from url: HTTPURL) {
        first.take(headers, from: url)
        second.take(headers, from: url)
    }
}

/// The store of a request that neither sends nor stores cookies.
final class NoCookies: CookieStore {
    func cookies(for url: HTTPURL) -> [Cookie] { [] }

    func take(_ headers: HTTPHeaders, from url: HTTPURL) {}
}

extension Int64 {
    /// The whole seconds since 1970, or the largest number for a date that does not fit.
    fileprivate init(clamping date: Date) {
        self = Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? .max
    }
}
