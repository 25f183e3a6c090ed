#if canImport(FoundationNetworking)
internal import DirectHTTP
internal import Foundation
internal import FoundationNetworking

/// A session's cookies, for the requests of one task.
///
/// The session has put a `Cookie` field into the request, in place of the caller's own, by rules that send a cookie to
/// names that it is not for and a secure one over http. That field is taken out again; the client asks the store.
struct SessionCookies: Sendable {
    private let store: any CookieStore
    private let sessionsField: String?

    /// `nil` where the session or the request wants no cookies. A client with a store of its own keeps it, too.
    init?(_ configuration: URLSessionConfiguration, _ request: URLRequest, _ own: (any CookieStore)?) {
        guard configuration.httpShouldSetCookies, configuration.httpCookieAcceptPolicy != .never,
            request.httpShouldHandleCookies, let storage = configuration.httpCookieStorage
        else { return nil }
        let stored = FoundationCookies(storage)
        store = own.map { JoinedCookies(stored, $0) } ?? stored
        sessionsField = request.url.flatMap(storage.cookies(for:)).flatMap {
            $0.isEmpty ? nil : HTTPCookie.requestHeaderFields(with: $0)["Cookie"]
        }
    }

    /// Leaves the cookies of the request, and of those that redirects make of it, to the store.
    func prepare(_ request: inout Request) {
        if let sessionsField, request.headers["Cookie"] == sessionsField { request.headers.remove("Cookie") }
        request.cookies = store
    }
}
#endif
