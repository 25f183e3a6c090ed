package import DirectCore

/// Makes URLs of the relative references that requests were made from. It stands around all layers, which
/// therefore know URLs only.
final class BaseURL: CallLayer {
    private let url: HTTPURL
    private let next: any CallLayer

    init(_ url: HTTPURL, next: any CallLayer) {
        self.url = url
        self.next = next
    }

    func send(_ request: Request, original: Request, isContinued: Bool, log: CallLog?) async throws
        -> Response
    {
        let request = request.resolved(against: url)
        return try await next.send(request, original: request, isContinued: isContinued, log: log)
    }
}

extension Request {
    /// Returns the request with its reference resolved against a client's base URL; the same request if it
    /// has a URL. What cannot be resolved is reported when the request is sent.
    package func resolved(against base: HTTPURL?) -> Request {
        // A value that gets in front of a path, as in `"\(prefix)/items"`, must not choose the host: it would
        // be sent what is for the base (axios, CVE-2025-27152).
        guard let base, case .failure = parsedURL, let reference = options.reference,
            !reference.utf8.starts(with: "//".utf8)
        else { return self }
        var request = self
        do throws(HTTPURLError) {
            request.parsedURL = .success(try base.resolving(reference))
        } catch {
            request.parsedURL = .failure(error)
        }
        request.options.reference = nil
        return request
    }
}
