internal import DirectCore
public import DirectHTTP1

/// The storage for a client's cookies: a ``CookieJar``, or another type that follows the same rules.
///
/// The client asks for cookies before it consults its cache, and again for each redirect and each
/// authentication attempt. It passes on every response that came from the network, but no response from the
/// cache, whose `Set-Cookie` fields are old.
public protocol CookieStore: AnyObject, Sendable {
    /// The name under which a later run of the program finds the cookies of the same user again; `nil`, the
    /// default, if it may not find them.
    ///
    /// A cache keeps the responses of each store apart from those of all others. Stores with equal names
    /// share them, and so does a store of a later run on a folder. Without a name they end with the object.
    /// The client asks for the name before and after it asks for the cookies of a request: a store whose user
    /// changes has another name from then on.
    var lastingName: String? { get }

    /// Returns the cookies to send with a request to this URL, in order.
    func cookies(for url: HTTPURL) -> [Cookie]

    /// Stores the cookies in the `Set-Cookie` fields of a response.
    ///
    /// - Parameter headers: The fields of the response.
    /// - Parameter url: The URL of the request. Its scheme is `http` if the server has not proved to be the
    ///   URL's host, because an override accepted its certificate or the request names another identity: such
    ///   a server must not set `Secure` cookies.
    func take(_ headers: HTTPHeaders, from url: HTTPURL)
}

extension CookieStore {
    /// `nil`: no other object has the same cookies.
    public var lastingName: String? { nil }
}
