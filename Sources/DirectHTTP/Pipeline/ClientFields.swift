internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The header fields that the client adds to requests, and those of them that may be sent to other origins.
/// And the names that are reached over `https` only.
final class ClientFields: Sendable {
    /// Adds `Accept-Encoding`, and decodes the responses.
    let decoding: ContentDecoding
    /// Says which names are reached over `https` only; `nil` without HSTS.
    let hsts: HSTSStore?
    /// The URL whose origin the client's settings are for; `nil` if they are for every one.
    let base: HTTPURL?
    /// The names of the client's own fields that tell who it is, in lower case, wherever they are sent.
    let identifyingNames: Set<String>
    private let headers: HTTPHeaders
    private let identifying: HTTPHeaders
    private let settings: DecodingSettings
    private let loop: EventLoop

    init(_ configuration: HTTPClient.Configuration) {
        // Proxies have credentials of their own in their settings; a server behind a proxy never gets them
        // (CVE-2023-32681).
        var headers = configuration.headers
        headers.remove("Proxy-Authorization")
        self.headers = headers
        identifying = headers.identifying
        identifyingNames = identifying.lowercasedNames
        base = configuration.baseURL
        hsts = configuration.hsts
        settings = configuration.decoding
        loop = configuration.loop
        decoding = ContentDecoding(settings, besides: headers, on: loop)
    }

    /// Returns the client's default fields, reduced to those that may be sent to the request's origin.
    @inline(__always)
    func defaults(for request: Request, _ trail: Trail?) -> HTTPHeaders {
        if let trail {
            if trail.hasAllFields { return HTTPHeaders() }
            if let fields = trail.clientFields { return fields.fields(for: request) }
        }
        return decoding.fields(for: request)
    }

    /// Returns those of the client's own fields that tell who it is, as far as they may be sent to the
    /// request's origin.
    func identifying(_ trail: Trail?) -> HTTPHeaders {
        guard let trail else { return identifying }
        if trail.hasAllFields { return HTTPHeaders() }
        return trail.clientFields?.identifying ?? identifying
    }

    /// Returns the client's own fields that may be sent to any origin, and those that a redirect policy lets
    /// through.
    func crossOriginFields(surviving: [String]) -> CrossOriginFields {
        func fields(hasBody: Bool) -> ContentDecoding {
            var harmless = headers
            harmless.keepCrossOriginSafe(hasBody: hasBody, surviving: surviving)
            return ContentDecoding(settings, besides: harmless, on: loop)
        }
        var kept = identifying
        kept.keepCrossOriginSafe(hasBody: false, surviving: surviving)
        return CrossOriginFields(
            withBody: fields(hasBody: true),
            withoutBody: fields(hasBody: false),
            identifying: kept
        )
    }

    /// Returns the fields that may be sent to another origin under the policy, which governs the client's own
    /// fields, too.
    func crossing(by policy: RedirectPolicy) -> Crossing {
        Crossing(surviving: policy.extraCrossOriginFields, fields: self)
    }
}

/// The client's own fields that may be sent to another origin. Those that describe a body go there with a
/// body only.
struct CrossOriginFields: Sendable {
    let withBody: ContentDecoding
    let withoutBody: ContentDecoding
    /// Those of them that tell whose client this is.
    let identifying: HTTPHeaders

    func fields(for request: Request) -> HTTPHeaders {
        (request.body.isNone ? withoutBody : withBody).fields(for: request)
    }
}
