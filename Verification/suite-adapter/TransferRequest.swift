import DirectHTTP
import Foundation

/// The same in the library's words.
extension Transfer {
    func request() throws -> Request {
        guard let method = HTTPMethod(validating: method) else { throw UsageError("method \(self.method)") }
        var fields = fields
        let target = takeHost(from: &fields)
        let framing = takeFraming(from: &fields)
        let expects = takeExpectation(from: &fields)
        var request = Request(method, target)
        request.upgrade = takeUpgrade(from: &fields)
        request.headers = fields
        request.body = content(framing)
        request.expectsContinue = expects
        request.authenticator = authenticator
        request.timeouts = timeouts
        request.redirects = redirects
        return request
    }

    /// The fields of the job, and those that any client sends unless the job removes them.
    private var fields: HTTPHeaders {
        var fields = HTTPHeaders((headers ?? []).map { (name: $0[0], value: $0[1]) })
        if let cookie { fields.add("Cookie", cookie) }
        for (name, value) in [("User-Agent", "suite-adapter"), ("Accept", "*/*")]
        where !fields.contains(name) && !isUnwanted(name) {
            fields.add(name, value)
        }
        return fields
    }

    private func isUnwanted(_ name: String) -> Bool {
        removedHeaders?.contains { $0.lowercased() == name.lowercased() } == true
    }

    /// The URL, with the name that `Host` asks for: here the name of a URL says nothing about where to
    /// connect, so no job needs a `Host` that contradicts it. An empty one is left to be refused.
    private func takeHost(from fields: inout HTTPHeaders) -> String {
        guard let host = fields["Host"], !host.isEmpty else { return url }
        fields.remove("Host")
        let start = url.range(of: "://")?.upperBound ?? url.startIndex
        let end = url[start...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        let hostStart = url[start..<end].lastIndex(of: "@").map(url.index(after:)) ?? start
        return url.replacingCharacters(in: hostStart..<end, with: host)
    }

    private enum Framing {
        case asItIs, chunks
        case length(UInt64)
    }

    /// The framing that `Content-Length` and `Transfer-Encoding` ask for. How a body is framed, and what
    /// becomes of the connection, is the library's to say, so these fields are not passed on.
    private func takeFraming(from fields: inout HTTPHeaders) -> Framing {
        let options = (fields["Connection"] ?? "").lowercased().split(separator: ",")
        if options.allSatisfy({ ["close", "keep-alive"].contains($0) }) { fields.remove("Connection") }
        guard body != nil else { return .asItIs }
        var wantsChunks = isChunked == true && !isUnwanted("Transfer-Encoding")
        if fields["Transfer-Encoding"]?.lowercased() == "chunked" {
            fields.remove("Transfer-Encoding")
            wantsChunks = true
        }
        let length = fields["Content-Length"].flatMap { UInt64($0) }
        if length != nil { fields.remove("Content-Length") }
        // Chunks have no length, whatever the job says besides.
        return wantsChunks ? .chunks : length.map { .length($0) } ?? .asItIs
    }

    private func takeExpectation(from fields: inout HTTPHeaders) -> Bool {
        let isAsked = fields["Expect"]?.lowercased() == "100-continue"
        if isAsked { fields.remove("Expect") }
        return isAsked || patience != nil && !isUnwanted("Expect")
    }

    /// The protocols of `Upgrade`, with which goes the option of that name in `Connection`.
    private func takeUpgrade(from fields: inout HTTPHeaders) -> [String] {
        guard let upgrade = fields["Upgrade"], !upgrade.isEmpty else { return [] }
        fields.remove("Upgrade")
        if fields["Connection"]?.lowercased() == "upgrade" { fields.remove("Connection") }
        return [upgrade]
    }

    private func content(_ framing: Framing) -> RequestBody {
        guard let body else { return .none }
        let bytes = Array(body)
        return switch framing {
        case .chunks: .stream(AsyncStream([bytes]))
        case .length(let length) where length != UInt64(bytes.count):
            .stream(AsyncStream([bytes]), length: length)
        default: .bytes(bytes)
        }
    }

    private var authenticator: (any Authenticator)? {
        if let bearer { return .bearer(bearer) }
        guard let user else { return nil }
        let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return .basic(user: String(parts[0]), password: parts.count > 1 ? String(parts[1]) : "")
    }

    private var timeouts: RequestTimeouts {
        var timeouts = RequestTimeouts()
        timeouts.total = .seconds(timeout ?? 20)
        if let patience { timeouts.continue = .seconds(patience) }
        return timeouts
    }

    private var redirects: RedirectPolicy {
        guard follows == true else { return .deliver }
        var policy = RedirectPolicy.follow
        if let redirectLimit { policy.limit = redirectLimit < 0 ? .max : redirectLimit }
        policy.sendsReferer = sendsReferer == true
        let schemes = allowedSchemes
        policy.decide = { redirect in
            guard schemes.contains(redirect.url.scheme.rawValue) else { throw ForbiddenScheme() }
            var next = redirect.next
            if keepsPost(redirect) {
                next.method = redirect.request.method
                next.body = redirect.request.body
                for field in redirect.request.headers where field.name.lowercased().hasPrefix("content-") {
                    next.headers[field.name] = field.value
                }
            }
            if trustsEverybody == true {
                next.authenticator = redirect.request.authenticator
                for field in redirect.request.headers where !next.headers.contains(field.name) {
                    next.headers.add(field.name, field.value)
                }
            }
            return next
        }
        return policy
    }

    private func keepsPost(_ redirect: Redirect) -> Bool {
        redirect.request.method == .post && keptPost?.contains(redirect.status.code) == true
    }

    /// `=` begins a list of its own, `+` and `-` change the usual one.
    private var allowedSchemes: Set<String> {
        var allowed: Set = ["http", "https"]
        for word in (redirectSchemes ?? "").lowercased().split(separator: ",") {
            let name = String(word.drop { "=+-".contains($0) })
            if word.hasPrefix("=") { allowed = [] }
            if word.hasPrefix("-") { allowed.remove(name) } else { allowed.insert(name) }
            if name == "all" { allowed = word.hasPrefix("-") ? [] : ["http", "https"] }
        }
        return allowed
    }
}

private struct ForbiddenScheme: Error {}

extension AsyncStream where Element: Sendable {
    fileprivate init(_ elements: [Element]) {
        self.init { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish()
        }
    }
}
