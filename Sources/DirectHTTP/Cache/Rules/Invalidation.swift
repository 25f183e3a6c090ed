internal import DirectCore
internal import DirectHTTP1

/// Invalidation of cache entries by unsafe requests.
enum Invalidation {
    /// Returns the URLs whose cache entries a request invalidates; none if its method is safe or it failed
    /// (RFC 9111, section 4.4).
    static func urls(of method: HTTPMethod, _ url: HTTPURL, response: ResponseHead) -> [HTTPURL] {
        guard !method.isSafe, response.status.isSuccess || response.status.isRedirection else { return [] }
        var urls = [url.withoutFragment]
        for name in ["Location", "Content-Location"] {
            for value in response.headers.values(for: name) {
                // One origin must not be able to remove the entries of another.
                guard let place = try? url.resolving(value), place.origin == url.origin else { continue }
                urls.append(place.withoutFragment)
            }
        }
        return urls
    }
}
