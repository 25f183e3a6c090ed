public import DirectHTTP
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension Request {
    /// Converts a request of Foundation's. Its problems are reported when it is sent.
    ///
    /// URL, method, fields, body, cache policy and `httpShouldHandleCookies` are converted; `timeoutInterval`
    /// is honoured by the calls that take a `URLRequest`. Of the fields that the client writes itself,
    /// `Content-Length` only gives the length of a body stream, `Expect: 100-continue` becomes an option, and
    /// the others are left out, as URLSession does it. `Accept-Encoding` is one of them: every coding that
    /// the client knows is decoded; `identity` asks the server for none. `Host` may not name another host
    /// than the URL: to send the request to another address, set `addresses`.
    public init(_ request: URLRequest) {
        self.init(request, over: [:])
    }

    /// Converts a request of a session with these additional fields.
    init(_ request: URLRequest, over additional: [AnyHashable: Any]) {
        let fields = FoundationFields(request.allHTTPHeaderFields ?? [:], over: additional, to: request.url)
        var headers = fields.headers
        if let directives = request.cachePolicy.directives { headers.add("Cache-Control", directives) }
        if fields.declinesCodings { headers.add("Accept-Encoding", "identity") }
        self.init(
            HTTPMethod(stringLiteral: request.httpMethod ?? "GET"),
            request.url?.absoluteString ?? "",
            headers: headers,
            body: RequestBody(of: request, announced: fields.contentLength)
        )
        ignoresStoredResponses = request.cachePolicy.ignoresLocalCopies
        if fields.expectsContinue { expectsContinue = true }
        if fields.declinesCodings { isAlwaysDecoded = true }
        if !request.httpShouldHandleCookies { cookies = NoCookies() }
    }
}

extension URLRequest {
    /// Converts a request to Foundation's type; `nil` if its URL is invalid or its body is not in memory.
    public init?(_ request: HTTPClient.Request) {
        self.init(headOf: request)
        if let type = request.body.contentType, !request.headers.contains("Content-Type") {
            setValue(type, forHTTPHeaderField: "Content-Type")
        }
        guard let body = request.body.bytesInMemory else { return nil }
        if !body.isEmpty { httpBody = Data(body) }
    }

    /// Converts URL, method and fields.
    init?(headOf request: Request) {
        guard let url = (try? request.url).flatMap(URL.init) else { return nil }
        self.init(url: url)
        httpMethod = request.method.description
        if request.cookies is NoCookies { httpShouldHandleCookies = false }
        // Foundation joins fields by commas, which cookies may not be (RFC 9110, section 5.3).
        var headers = request.headers
        headers["Cookie"] =
            headers.contains("Cookie") ? headers.values(for: "Cookie").joined(separator: "; ") : nil
        for field in headers { addValue(field.value, forHTTPHeaderField: field.name) }
    }
}

extension RequestBody {
    /// A body of these bytes.
    public static func data(_ data: Data, contentType: String? = nil) -> RequestBody {
        .bytes(Array(data), contentType: contentType)
    }

    /// The bytes of an upload. Large ones are not copied into an array.
    static func upload<Bytes: ScatteredBytes>(_ data: Bytes) -> RequestBody {
        guard data.count > DataPieces<Bytes>.pieceSize else {
            return .bytes(data.bytes(in: data.startIndex..<data.endIndex))
        }
        let pieces = DataPieces(data)
        return .replayable(length: UInt64(data.count)) { pieces }
    }

    /// The content of a file, which is read while it is sent.
    static func file(at url: URL) throws -> RequestBody {
        guard url.isFileURL else {
            throw URLError(.unsupportedURL, "the body's URL is not that of a file", for: url)
        }
        return .file(url.path)
    }

    /// The bytes of an `InputStream`, which is read on a thread of its own and no faster than the server
    /// takes it.
    ///
    /// A stream can be sent once only.
    ///
    /// - Parameter length: The exact number of bytes that the stream has. Without it the body is sent in
    ///   chunks.
    public static func stream(_ stream: InputStream, length: UInt64? = nil) -> RequestBody {
        .stream(InputPieces(stream), length: length)
    }

    /// Converts the body of a request; `announced` is the length of a body stream.
    init(of request: URLRequest, announced: UInt64?) {
        if let data = request.httpBody {
            self = .data(data, contentType: data.isEmpty ? nil : request.formType)
        } else if let stream = request.httpBodyStream {
            self = .stream(InputPieces(stream), length: announced, contentType: request.formType)
        } else {
            self = .none
        }
    }
}

/// The store of a request that neither sends nor stores cookies.
final class NoCookies: CookieStoreOfHolder {
    var nameOfHolder: String? { nil }

    func cookies(for url: HTTPURL) -> [Cookie] { [] }

    func take(_ headers: HTTPHeaders, from url: HTTPURL) {}
}

extension URLRequest {
    /// The type that URLSession gives the body of a POST without one. Servers have come to rely on it.
    var formType: String? { httpMethod == "POST" ? "application/x-www-form-urlencoded" : nil }
}

extension URLRequest.CachePolicy {
    /// Whether no local copy may be used, not even one that the origin confirms. No directive expresses that.
    fileprivate var ignoresLocalCopies: Bool {
        switch self {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: true
        default: false
        }
    }

    /// The policy as directives (RFC 9111, section 5.2.1), which the client's cache understands and caches on
    /// the way as well.
    fileprivate var directives: String? {
        switch self {
        case .useProtocolCachePolicy: nil
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
            .reloadRevalidatingCacheData:
            "no-cache"
        case .returnCacheDataElseLoad: "max-stale"
        case .returnCacheDataDontLoad: "only-if-cached, max-stale"
        @unknown default: nil
        }
    }
}
