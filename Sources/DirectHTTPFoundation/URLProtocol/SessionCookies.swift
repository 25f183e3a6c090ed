#if canImport(FoundationNetworking)
internal import DirectHTTP
internal import Foundation
internal import FoundationNetworking

/// A session's cookies, for the requests of one task.
///
/// They are those of the session alone, or none if the session or the request wants none: the client's own
/// are those of its other callers.
struct SessionCookies: Sendable {
    /// Asked for each request of the task, also for those that redirects make of it.
    let store: any CookieStore
    /// Whether the session has written the `Cookie` field when it made the task. It does so whatever the
    /// request wants, in place of the caller's field, by rules that send cookies to hosts that they are not
    /// for and secure cookies over http; and the storage may have changed since.
    private let isFieldOfSession: Bool

    init(_ configuration: URLSessionConfiguration, _ request: URLRequest) {
        let storage = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
        isFieldOfSession = storage != nil
        let isWanted = configuration.httpCookieAcceptPolicy != .never && request.httpShouldHandleCookies
        store = storage.flatMap { isWanted ? FoundationCookies($0) : nil } ?? NoCookies()
    }

    /// Returns the request without the cookies that the session has written.
    ///
    /// A delegate may have copied them from the request of the task into one after a redirect, which was
    /// proposed with this field.
    func taken(from request: URLRequest, proposed field: String? = nil) -> URLRequest {
        guard isFieldOfSession, request.value(forHTTPHeaderField: "Cookie") != field else { return request }
        var request = request
        request.setValue(field, forHTTPHeaderField: "Cookie")
        return request
    }
}
#endif
