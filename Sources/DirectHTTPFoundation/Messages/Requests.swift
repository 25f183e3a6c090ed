public import DirectHTTP
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension Request {
    /// Converts a request of Foundation's. Its problems are reported when it is sent.
    ///
    /// URL, method, fields, body and cache policy are converted; `timeoutInterval` is honoured by the calls
    /// that take a `URLRequest`. A `Content-Length` only gives the length of a body stream. `Host` may not
    /// differ from the URL: to send the request to another address, set `addresses`.
    public init(_ request: URLRequest) {
        let fields = request.allHTTPHeaderFields ?? [:]
        self.init(
            HTTPMethod(stringLiteral: request.httpMethod ?? "GET"),
            request.url?.absoluteString ?? "",
            headers: HTTPHeaders(fields, request.cachePolicy),
            body: RequestBody(
                of: request,
                announced: fields.value(for: "Content-Length").flatMap(UInt64.init)
            )
        )
        ignoresStoredResponses = request.cachePolicy.ignoresLocalCopies
    }
}

extension URLRequest {
    /// Converts a request to Foundation's type; `nil` if its URL is invalid or its body is not in memory.
    public init?(_ request: HTTPClient.Request) {
        guard let url = (try? request.url).flatMap(URL.init) else { return nil }
        self.init(url: url)
        httpMethod = request.method.description
        for field in request.headers { addValue(field.value, forHTTPHeaderField: field.name) }
        if let type = request.body.contentType, !request.headers.contains("Content-Type") {
            setValue(type, forHTTPHeaderField: "Content-Type")
        }
        guard let body = request.body.bytesInMemory else { return nil }
        if !body.isEmpty { httpBody = Data(body) }
    }
}

extension RequestBody {
    /// A body of these bytes.
    public static func data(_ data: Data, contentType: String? = nil) -> RequestBody {
        .bytes(Array(data), contentType: contentType)
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
            // URLSession adds this type to a POST without one, and servers have come to rely on it.
            let isForm = request.httpMethod == "POST" && !data.isEmpty
            self = .data(data, contentType: isForm ? "application/x-www-form-urlencoded" : nil)
        } else if let stream = request.httpBodyStream {
            self = .stream(stream, length: announced)
        } else {
            self = .none
        }
    }
}

extension HTTPHeaders {
    fileprivate init(_ fields: [String: String], _ policy: URLRequest.CachePolicy) {
        self.init()
        for (name, value) in fields where !name.isOwnedByClient { add(name, value) }
        guard let directives = policy.directives, !contains("Cache-Control") else { return }
        add("Cache-Control", directives)
    }
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
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: "no-cache"
        case .reloadRevalidatingCacheData: "max-age=0"
        case .returnCacheDataElseLoad: "max-stale"
        case .returnCacheDataDontLoad: "only-if-cached, max-stale"
        @unknown default: nil
        }
    }
}

extension String {
    /// Whether the field is one that URLSession writes by itself as well, whatever the caller has set.
    fileprivate var isOwnedByClient: Bool {
        switch utf8.count {
        case 10: caseInsensitiveCompare("Connection") == .orderedSame
        case 14: caseInsensitiveCompare("Content-Length") == .orderedSame
        case 17: caseInsensitiveCompare("Transfer-Encoding") == .orderedSame
        default: false
        }
    }
}

extension [String: String] {
    /// Returns the value of a field, whatever the case of its name.
    fileprivate func value(for name: String) -> String? {
        self[name] ?? first { $0.key.caseInsensitiveCompare(name) == .orderedSame }?.value
    }
}
