internal import DirectCore
internal import DirectHTTP

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Sends the requests of a URLSession with an `HTTPClient`.
///
/// Add a class to `URLSessionConfiguration.protocolClasses`: one that
/// `HTTPClient.urlProtocolClass(hosts:schemes:)` has made, or a subclass of your own that overrides
/// `binding`. docs/URLSession.md lists what a session can do this way and what Foundation prevents;
/// `HTTPClient.data(for:)` and the other calls of the bridge have no such limits.
///
/// On Linux the class looks into the session for what FoundationNetworking does not publish, and uses the
/// session's cookies. Use it to keep code of an app running there; a service uses the bridge.
///
/// - Important: On Apple's systems the class follows Apple's documents, and no Apple machine has run it. It
///   cannot see the cookies of its session there: those of the client are used, so give the client
///   `useCookies(of: .shared)` for sessions with the shared storage. What a session delivers whose delegate
///   refuses a redirect is not known.
open class DirectURLProtocol: URLProtocol {
    private var loading: ProtocolLoading?
    private var isStopped = false
    /// Whether the session has been told of the end. Set on the task's queue, with the last call to the
    /// client.
    var isOver = false

    #if canImport(FoundationNetworking)
    /// The session; `nil` once it has been told of the end.
    ///
    /// A task that is cancelled while it ends would be reported a second time, and the session ends the
    /// process if it is called for a task that it no longer knows.
    override open var client: (any URLProtocolClient)? {
        get { isOver ? nil : super.client }
        set { super.client = newValue }
    }
    #endif

    /// The client that sends the requests, and the hosts and schemes it does that for. By default
    /// `HTTPClient.shared` sends all http and https requests.
    open class var binding: URLProtocolBinding { URLProtocolBinding(.shared) }

    /// Whether the binding accepts the request's URL.
    override open class func canInit(with request: URLRequest) -> Bool {
        request.url.map(binding.accepts) ?? false
    }

    /// Returns the same request with its URL as this package's parser writes it.
    override open class func canonicalRequest(for request: URLRequest) -> URLRequest {
        guard let url = request.url, let own = try? HTTPURL(url), let clean = URL(own) else { return request }
        var request = request
        request.url = clean
        return request
    }

    /// Whether both requests have the same canonical form.
    override open class func requestIsCacheEquivalent(_ one: URLRequest, to other: URLRequest) -> Bool {
        canonicalRequest(for: one) == canonicalRequest(for: other)
    }

    /// Starts the request. Has no effect if it has been started, as where a session calls this to resume a
    /// task.
    override open func startLoading() {
        // FoundationNetworking may cancel a task before it starts it, and then still start it, because it
        // looks for a cached response on another thread. Reporting anything to a task that has ended ends the
        // process.
        guard !isStopped, loading == nil else { return }
        let loading = ProtocolLoading(self, Self.binding.client)
        self.loading = loading
        loading.start()
    }

    /// Stops the request when the task is cancelled or has ended. Where a session calls this to suspend a
    /// task as well, the request goes on.
    override open func stopLoading() {
        #if canImport(FoundationNetworking)
        // A suspension may be told late, when the task runs again: its state then says nothing about why this
        // is called. But no state leads back from these two.
        if let task, task.state != .canceling, task.state != .completed { return }
        #endif
        isStopped = true
        loading?.stop()
        loading = nil
    }
}
