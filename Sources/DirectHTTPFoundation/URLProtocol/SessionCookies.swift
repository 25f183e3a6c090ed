#if canImport(FoundationNetworking)
internal import DirectHTTP
internal import Foundation
internal import FoundationNetworking

/// A session's cookies, for the requests of one task.
///
/// The session has put a `Cookie` field into the request, in place of the caller's own, by rules that send a cookie to
/// names that it is not for and a secure one over http. That field is taken out again.
struct SessionCookies: Sendable {
    let shelf: CookieShelf
    private let sessionsField: String?

    /// Nothing where the session or the request wants no cookies.
    init?(_ configuration: URLSessionConfiguration, _ request: URLRequest) {
        guard configuration.httpShouldSetCookies, configuration.httpCookieAcceptPolicy != .never,
            request.httpShouldHandleCookies, let storage = configuration.httpCookieStorage
        else { return nil }
        shelf = CookieShelf(storage)
        sessionsField = request.url.flatMap(storage.cookies(for:)).flatMap {
            $0.isEmpty ? nil : HTTPCookie.requestHeaderFields(with: $0)["Cookie"]
        }
    }

    func replaceField(of headers: inout Headers, for url: HTTPURL) {
        if let sessionsField, headers["Cookie"] == sessionsField { headers.remove("Cookie") }
        shelf.addField(to: &headers, for: url)
    }
}
#endif
