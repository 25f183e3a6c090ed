package import DirectCore
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
    private let identifying: HTTPHeaders

    init(_ configuration: HTTPClient.Configuration) {
        // Proxies have credentials of their own in their settings; a server behind a proxy never gets them
        // (CVE-2023-32681).
        var headers = configuration.headers
        headers.remove("Proxy-Authorization")
        identifying = headers.identifying
        identifyingNames = identifying.lowercasedNames
        base = configuration.baseURL
        hsts = configuration.hsts
        decoding = ContentDecoding(configuration.decoding, besides: headers, on: configuration.loop)
    }

    /// Returns the client's default fields, reduced to those that may be sent to the request's origin.
    func defaults(for request: Request, trail: Trail?) -> HTTPHeaders {
        guard let trail else { return decoding.fields(for: request) }
        if trail.hasAllFields { return HTTPHeaders() }
        return trail.reduced(decoding.fields(for: request), hasBody: !request.body.isNone)
    }

    /// Returns those of the client's own fields that tell who it is, as far as they may be sent to the
    /// request's origin.
    func identifying(_ trail: Trail?) -> HTTPHeaders {
        guard let trail else { return identifying }
        return trail.hasAllFields ? HTTPHeaders() : trail.reduced(identifying, hasBody: false)
    }

    /// Returns the fields that may be sent to another origin under the policy, which governs the client's own
    /// fields, too.
    func crossing(by policy: RedirectPolicy) -> Crossing {
        Crossing(surviving: policy.extraCrossOriginFields, fields: self)
    }
}

extension ClientFields {
    /// Returns the request with an `https` URL if HSTS asks for that (RFC 6797, section 8.3), before anything
    /// else is derived from the URL.
    func upgraded(_ request: Request) -> Request {
        guard let hsts, case .success(let url) = request.parsedURL,
            let upgraded = hsts.upgrades(url, at: .now)
        else { return request }
        var request = request
        request.parsedURL = .success(upgraded)
        return request
    }

    /// Returns a request that code of the caller's has made, with the URL that it is for: a reference is
    /// relative to the client's base, and HSTS decides as about any other.
    func completed(_ request: Request) -> Request {
        upgraded(request.resolved(against: base).introducingURLUser())
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

/// The fields that may be sent along when a call crosses to another origin.
struct Crossing {
    /// Field names that the policy lets through although they are not on the safe list.
    let surviving: [String]
    let fields: ClientFields
}

extension Request {
    /// Returns the request that an interceptor has made of `shown`. If it is for another origin, without the
    /// fields that were only copied: an interceptor before it may have added a secret of the former origin.
    func withoutCopies(of shown: Request, surviving: [String]) -> Request {
        guard case .success(let url) = parsedURL, !shown.isFor(url.origin) else { return self }
        var kept = self
        kept.headers.dropCopies(of: shown.headers, hasBody: !body.isNone, surviving: surviving)
        return kept
    }
}

/// Which fields may be sent to any origin.
extension HTTPHeaders {
    /// Removes all fields except those that are known to be safe for another origin.
    ///
    /// A list of the unsafe ones would never be complete (CVE-2026-40895): every API has a key field of its
    /// own.
    mutating func keepCrossOriginSafe(hasBody: Bool, surviving: [String]) {
        let surviving = surviving.map { $0.lowercased() }
        removeAll { !Self.mayCross($0, hasBody: hasBody, surviving: surviving) }
    }

    /// The fields that are not known to be safe for any origin: they may identify who sends them.
    var identifying: HTTPHeaders {
        var fields = self
        fields.removeAll { Self.mayCross($0, hasBody: true, surviving: []) }
        return fields
    }

    /// Removes values that are not known to be safe for another origin and are copies of those in `others`.
    mutating func dropCopies(of others: HTTPHeaders, hasBody: Bool, surviving: [String]) {
        let surviving = surviving.map { $0.lowercased() }
        for name in Set(others.map { $0.name.lowercased() })
        where !Self.mayCross(name, hasBody: hasBody, surviving: surviving) {
            let (values, copied) = (values(for: name), Set(others.values(for: name)))
            guard values.contains(where: copied.contains) else { continue }
            remove(name)
            for value in values where !copied.contains(value) { add(name, value) }
        }
    }

    /// Removes the fields whose name, in lower case, matches.
    mutating func removeAll(where isUnwanted: (String) -> Bool) {
        for name in Set(map { $0.name.lowercased() }) where isUnwanted(name) { remove(name) }
    }

    /// Whether a field with that name, in lower case, may be sent to any origin.
    private static func mayCross(_ name: String, hasBody: Bool, surviving: [String]) -> Bool {
        hasBody && name.hasPrefix("content-") || harmless.contains(name) || surviving.contains(name)
    }

    /// The fields that are known to be safe for any origin.
    static let harmless: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "dnt",
        // Without its condition a range would bring a part of any version (RFC 9110, section 13.1.5).
        "if-range", "pragma", "range", "save-data", "user-agent",
    ]
}
