#if canImport(FoundationNetworking)
internal import DirectHTTP
internal import Foundation
internal import FoundationNetworking

/// A session's cookies, for the requests of one task.
///
/// The session has put a `Cookie` field into the request, in place of the caller's own, by rules that send
/// cookies to hosts that they are not for and secure cookies over http. That field is removed again; the
/// client asks the store.
struct SessionCookies: Sendable {
    private let store: any CookieStore
    private let sessionsField: String?

    /// The cookies are those of the session alone, or none if the session or the request wants none: the
    /// client's own are those of its other callers.
    init(_ configuration: URLSessionConfiguration, _ request: URLRequest) {
        let areWanted =
            configuration.httpShouldSetCookies && configuration.httpCookieAcceptPolicy != .never
            && request.httpShouldHandleCookies
        guard areWanted, let storage = configuration.httpCookieStorage else {
            (store, sessionsField) = (NoCookies(), nil)
            return
        }
        store = FoundationCookies(storage)
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
