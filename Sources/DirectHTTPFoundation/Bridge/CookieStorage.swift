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
    /// Cookies belong to the host in the URL, whatever address the request goes to. The rules of
    /// ``CookieJar`` decide which cookies a server may set and which requests they are sent with, because
    /// Foundation's own rules are broken on Linux; the storage only stores.
    public mutating func useCookies(of storage: HTTPCookieStorage) {
        cookies = FoundationCookies(storage)
    }
}

extension Cookie {
    /// Converts a cookie of Foundation's; `nil` if it is one that no server may set.
    public init?(_ cookie: HTTPCookie) {
        let domain = cookie.domain.hasPrefix(".") ? String(cookie.domain.dropFirst()) : cookie.domain
        guard let host = try? DirectHTTP.HTTPHost(domain) else { return nil }
        // The dot before an address or a single label, as `localhost`, is Foundation's: such a cookie is its
        // host's own (RFC 6265, section 5.3, step 5).
        let isName = host.name.map { "\($0)".contains(".") } ?? false
        try? self.init(
            cookie.name,
            cookie.value,
            for: host,
            coversSubdomains: isName && domain != cookie.domain,
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

/// A `CookieStore` that keeps its cookies in a storage of Foundation's and follows the rules of
/// ``CookieJar``.
final class FoundationCookies: BlockingCookieStore, CookieStoreOfHolder, CustomReflectable,
    @unchecked Sendable
{
    // The storage is thread-safe by its documentation, but not marked `Sendable` everywhere.
    private let storage: HTTPCookieStorage
    private let copy: StorageCopy

    private static let copies = WeakTable<StorageCopy>()

    /// Creates a store on top of this storage.
    init(_ storage: HTTPCookieStorage) {
        self.storage = storage
        copy = Self.copies.value(of: storage) { StorageCopy() }
    }

    var nameOfHolder: String? {
        guard storage === HTTPCookieStorage.shared else { return AskerName.object(storage) }
        // Each program has a shared storage of its own.
        return "HTTPCookieStorage.shared of \(ProcessInfo.processInfo.processName)"
    }

    func cookies(for url: HTTPURL) -> [Cookie] {
        copy.jar(of: storage).cookies(for: url)
    }

    func take(_ headers: HTTPHeaders, from url: HTTPURL) {
        guard headers.contains("Set-Cookie"), storage.cookieAcceptPolicy != .never else { return }
        copy.change(storage, by: { $0.take(headers, from: url) })
    }

    /// A mirror that never shows the cookies.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// A storage has no limits, and what a jar removes to make room, the program would miss in its storage.
private var unlimitedJar: CookieJar { CookieJar(perSite: .max, total: .max) }

/// The cookies of a storage in a jar, which finds those for a request without a look at all others.
private final class StorageCopy: Sendable {
    private struct State {
        /// The cookies of the storage when the jar was filled.
        var stored: [HTTPCookie] = []
        var jar = unlimitedJar

        /// Fills the jar if the storage has other cookies than before.
        ///
        /// `HTTPCookie` is immutable, and FoundationNetworking returns the same objects until a cookie is
        /// set or deleted: so a thousand comparisons of pointers tell what
        /// `NSHTTPCookieManagerCookiesChanged` would. On Linux that notification is declared and never posted
        /// (swift-corelibs-foundation, HTTPCookieStorage.swift).
        mutating func update(from storage: HTTPCookieStorage) {
            let now = storage.cookies ?? []
            guard !now.elementsEqual(stored, by: { $0 === $1 || $0 == $1 }) else { return }
            fill(from: now)
        }

        /// Fills the jar, the oldest cookie first (RFC 6265, section 5.4): the storage has no order of its
        /// own, and takes a cookie with another value for a new one.
        mutating func fill(from cookies: [HTTPCookie]) {
            stored = cookies
            let former = jar.cookies.map(CookiePlace.init)
            let places = Dictionary(zip(former, former.indices)) { first, _ in first }
            let known = cookies.compactMap { cookie in
                Cookie(cookie).map { ($0, place: places[CookiePlace($0)] ?? .max, created: cookie.created) }
            }
            jar = unlimitedJar
            for (cookie, _, _) in known.sorted(by: { ($0.place, $0.created) < ($1.place, $1.created) }) {
                jar.add(cookie)
            }
        }
    }

    /// Held from a change of the jar until it has been repeated in the storage, which writes a file at each
    /// call. Readers wait for it, on threads that may block.
    private let state = Locked(State())

    /// Returns the jar, filled anew if the storage has changed.
    func jar(of storage: HTTPCookieStorage) -> CookieJar {
        state.withLock { state in
            state.update(from: storage)
            return state.jar
        }
    }

    /// Makes a change in the jar and repeats it in the storage.
    func change(_ storage: HTTPCookieStorage, by change: (CookieJar) -> Void) {
        state.withLock { state in
            state.update(from: storage)
            let before = state.jar.cookies
            change(state.jar)
            let changes = PendingCookie.changes(from: before, to: state.jar.cookies, in: state.stored)
            for change in changes { change.apply(to: storage) }
            // The storage decides what it keeps.
            if !changes.isEmpty { state.fill(from: storage.cookies ?? []) }
        }
    }
}

/// A change of one cookie of a jar that is to be repeated in a storage.
///
/// A cookie that takes another one's place is only set, which replaces that: the storage writes a file at
/// each call, and a program that is killed between two would have lost a login.
struct PendingCookie {
    private let place: CookiePlace
    /// The cookies of the storage when the jar was changed: two, if it writes the host in two ways.
    let before: [HTTPCookie]
    let after: Cookie?

    private init(_ cookie: Cookie, after: Cookie?, in stored: [HTTPCookie]) {
        place = CookiePlace(cookie)
        before = place.cookies(in: stored)
        self.after = after
    }

    /// The cookies to set, in the order of the jar, in which Foundation notes the time of each, and then
    /// those to remove.
    ///
    /// - Parameter stored: the cookies of the storage, of which the jar was filled.
    static func changes(
        from before: [Cookie],
        to after: [Cookie],
        in stored: [HTTPCookie]
    ) -> [PendingCookie] {
        let (old, kept) = (Set(before), Set(after.map(CookiePlace.init)))
        return after.filter { !old.contains($0) }.map { PendingCookie($0, after: $0, in: stored) }
            + before.filter { !kept.contains(CookiePlace($0)) }
            .map { PendingCookie($0, after: nil, in: stored) }
    }

    /// Repeats the change, unless the storage no longer has what it had: then the program has changed it
    /// meanwhile, and its change counts.
    fileprivate func apply(to storage: HTTPCookieStorage) {
        let found = place.cookies(in: storage.cookies ?? [])
        // Not before the storage was asked. An expired cookie is no cookie: it may be there still, and
        // Foundation removes all of them where it sets another one.
        let now = Date()
        let living = { (cookies: [HTTPCookie]) in
            Set(cookies.filter { $0.expiresDate.map { $0 > now } ?? true })
        }
        guard living(found) == living(before) else { return }
        let renewed = after.flatMap { HTTPCookie($0) }
        if let renewed { storage.setCookie(renewed) }
        for old in before where old.domain != renewed?.domain { storage.deleteCookie(old) }
    }
}

/// The values by which a cookie replaces another one (RFC 6265, section 5.3).
private struct CookiePlace: Hashable {
    let name, host, path: String

    init(_ cookie: Cookie) {
        (name, host, path) = (cookie.name, "\(cookie.coversSubdomains)\(cookie.host)", cookie.path)
    }

    /// The cookies of a storage at this place.
    func cookies(in cookies: [HTTPCookie]) -> [HTTPCookie] {
        cookies.filter { $0.name == name && Cookie($0).map(CookiePlace.init) == self }
    }
}

extension HTTPCookie {
    /// When Foundation has made the cookie.
    fileprivate var created: Double { properties?[HTTPCookiePropertyKey("Created")] as? Double ?? 0 }
}

extension Int64 {
    /// The whole seconds since 1970, or the largest number for a date that does not fit.
    fileprivate init(clamping date: Date) {
        self = Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? .max
    }
}
