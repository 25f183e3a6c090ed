#if canImport(FoundationNetworking)
internal import DirectHTTP
internal import Foundation
internal import FoundationNetworking

/// A session's cookies, for the requests of one task.
///
/// The session has put a `Cookie` field into the request, in place of the caller's own, by rules that send cookies
/// to hosts that they are not for and secure cookies over http. That field is removed again; the client asks the
/// store.
struct SessionCookies: Sendable {
    private let store: any CookieStore
    private let sessionsField: String?

    /// `nil` if the session or the request wants no cookies. The cookies are also kept in the client's own store, if
    /// it has one.
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

    /// Makes the store responsible for the cookies of the request and of those that redirects make of it.
    func prepare(_ request: inout Request) {
        if let sessionsField, request.headers["Cookie"] == sessionsField { request.headers.remove("Cookie") }
        request.cookies = store
    }
}
#endif
