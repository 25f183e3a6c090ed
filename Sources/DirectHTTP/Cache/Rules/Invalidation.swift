internal import DirectHTTP1

/// What a response makes doubtful.
enum Invalidation {
    /// The URLs whose kept responses may be wrong now that such a request has succeeded; none if it is safe, or
    /// did not succeed (RFC 9111, section 4.4).
    static func urls(of method: Method, _ url: HTTPURL, _ response: ResponseHead) -> [HTTPURL] {
        guard !method.isSafe, response.status.isSuccess || response.status.isRedirection else { return [] }
        var urls = [url.withoutFragment]
        for name in ["Location", "Content-Location"] {
            for value in response.headers.values(for: name) {
                // Nobody can make us forget what others have said.
                guard let place = try? url.resolving(value), place.origin == url.origin else { continue }
                urls.append(place.withoutFragment)
            }
        }
        return urls
    }
}
