public import DirectHTTP1

/// Where a client keeps its cookies: a `CookieJar`, or another store that goes by the same rules.
///
/// The client asks for the cookies of each request before it looks into its cache, of each hop of a redirect and of each
/// login anew. It hands over each response that came from the network; a response from the cache is an old one.
public protocol CookieStore: AnyObject, Sendable {
    /// The cookies of a request to this URL, in the order in which they are sent.
    func cookies(for url: HTTPURL) -> [Cookie]

    /// Keeps what the `Set-Cookie` fields of the response to a request to this URL say.
    func take(_ headers: Headers, from url: HTTPURL)
}
