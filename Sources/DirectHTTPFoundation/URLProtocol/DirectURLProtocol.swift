internal import DirectHTTP

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Carries the requests of a URLSession with a client of ours.
///
/// Put a class into `URLSessionConfiguration.protocolClasses`: one that `HTTPClient.urlProtocolClass` has made, or a
/// subclass of your own that overrides `binding`. docs/URLSession.md says what a session can do this way and what
/// Foundation keeps it from; `HTTPClient.data(for:)` and its relatives have no such limits.
open class DirectURLProtocol: URLProtocol {
    private var loading: ProtocolLoading?
    private var isStopped = false
    /// Set on the task's queue, with the last call to the client.
    var isOver = false

    #if canImport(FoundationNetworking)
    /// Nobody once the session has been told of the end. A task that is cancelled while it ends would be reported a
    /// second time, and the session ends the process over a task that it no longer knows.
    override open var client: (any URLProtocolClient)? {
        get { isOver ? nil : super.client }
        set { super.client = newValue }
    }
    #endif

    /// Whose requests are carried, and by which client: all of them by `HTTPClient.shared`, unless overridden.
    open class var binding: URLProtocolBinding { URLProtocolBinding(.shared) }

    override open class func canInit(with request: URLRequest) -> Bool {
        request.url.map(binding.accepts) ?? false
    }

    /// The same request with its URL as our parser understands it.
    override open class func canonicalRequest(for request: URLRequest) -> URLRequest {
        guard let url = request.url, let own = try? HTTPURL(url), let clean = URL(own) else { return request }
        var request = request
        request.url = clean
        return request
    }

    override open class func requestIsCacheEquivalent(_ one: URLRequest, to other: URLRequest) -> Bool {
        canonicalRequest(for: one) == canonicalRequest(for: other)
    }

    /// Starts, or goes on after a suspension.
    override open func startLoading() {
        // FoundationNetworking may cancel a task before it starts it, and then still start it: it looks for a cached
        // response on another thread. To tell a task of anything that has ended ends the process.
        guard !isStopped else { return }
        if let loading { return loading.resume() }
        let loading = ProtocolLoading(self, Self.binding.client)
        self.loading = loading
        loading.start()
    }

    /// The task was cancelled or has ended; where sessions call this to suspend a task, too, it only pauses.
    override open func stopLoading() {
        #if canImport(FoundationNetworking)
        if task?.state == .suspended { return loading?.pause() ?? () }
        #endif
        isStopped = true
        loading?.stop()
        loading = nil
    }
}
