import DirectHTTP
import Foundation

extension SuiteAdapter {
    /// Makes the transfers of one job in turn, with one client, each at the job's address whatever its URL says.
    ///
    /// Keys that ask for what the client does not do yet (user, te, http09, http10) are not acted on: the harness
    /// sees what the client does today.
    ///
    /// `lenient` overlooks the faults of old servers that can be overlooked.
    static func transfer(lenient: Bool) async throws {
        let input = FileHandle.standardInput.readDataToEndOfFile()
        let job = try JSONDecoder().decode(Job.self, from: input)
        let endpoint = try Endpoint(job.connect)
        let jar = job.transfers.contains { $0.hasJar == true } ? CookieJar() : nil
        var everywhere = StaticMap()
        try everywhere.set([endpoint], for: .any)
        let client = HTTPClient { [everywhere] in
            $0.headers = [:]
            $0.decoding.isEnabled = job.transfers.contains { $0.decompress == true }
            $0.addresses = everywhere
            $0.cookies = jar
            if lenient { $0.leniency = .everything }
        }
        for step in job.transfers {
            step.prepare(jar)
            try await printLine(step.outcome(client))
        }
    }
}

private struct Job: Decodable {
    let connect: String
    let transfers: [Transfer]
}

private struct Transfer: Decodable {
    let url: String
    let method: String
    let headers: [[String]]?
    let removedHeaders: [String]?
    let body: Data?
    let isChunked: Bool?
    let cookie: String?
    let bearer: String?
    let decompress: Bool?
    let hasJar: Bool?
    /// A file of cookies, which the jar is to begin with.
    let jarFile: String?
    /// Whether to forget the cookies of the session.
    let isNewSession: Bool?
    let follows: Bool?
    let redirectLimit: Int?
    let timeout: Double?
    let limit: Int?

    private enum CodingKeys: String, CodingKey {
        case url, method, headers, cookie, bearer, decompress, timeout
        case removedHeaders = "remove_headers"
        case body = "body_b64"
        case isChunked = "chunked_upload"
        case hasJar = "jar"
        case jarFile = "jar_file"
        case isNewSession = "junk"
        case follows = "follow"
        case redirectLimit = "max_redirects"
        case limit = "max_bytes"
    }

    func prepare(_ jar: CookieJar?) {
        if let jarFile { jar?.add(text: Array(jarFile.utf8)) }
        if isNewSession == true { jar?.endSession() }
    }

    func outcome(_ client: HTTPClient) async -> Outcome {
        var outcome = Outcome()
        do {
            let response = try await client.send(request())
            outcome.status = Int(response.status.code)
            outcome.headers = response.headers.map { [$0.name, $0.value] }
            let limit = limit ?? 64 * 1024 * 1024
            var bytes: [UInt8] = []
            defer { outcome.body = Data(bytes) }
            for try await piece in response.body {
                bytes += piece
                guard bytes.count <= limit else { throw UsageError("more than \(limit) bytes") }
            }
        } catch {
            outcome.error = "\(error)"
        }
        return outcome
    }

    private func request() throws -> Request {
        guard let method = Method(validating: method) else { throw UsageError("method \(self.method)") }
        var request = Request(method, url)
        request.headers = fields
        request.body = content
        var timeouts = Timeouts()
        timeouts.total = .seconds(timeout ?? 20)
        request.timeouts = timeouts
        request.redirects = redirects
        return request
    }

    private var redirects: RedirectPolicy {
        guard follows == true else { return .deliver }
        var policy = RedirectPolicy.follow
        if let redirectLimit { policy.limit = redirectLimit }
        return policy
    }

    /// What the job asks for, and what any client sends unless the job takes it away.
    private var fields: Headers {
        var fields = Headers((headers ?? []).map { (name: $0[0], value: $0[1]) })
        if let cookie { fields.add("Cookie", cookie) }
        if let bearer { fields.add("Authorization", "Bearer \(bearer)") }
        let unwanted = (removedHeaders ?? []).map { $0.lowercased() }
        for (name, value) in [("User-Agent", "suite-adapter"), ("Accept", "*/*")] {
            guard !fields.contains(name), !unwanted.contains(name.lowercased()) else { continue }
            fields.add(name, value)
        }
        return fields
    }

    private var content: RequestBody {
        guard let body else { return .none }
        guard isChunked == true else { return .bytes(Array(body)) }
        return .stream(AsyncStream([Array(body)]))
    }
}

/// What one transfer came to; with an error also what had arrived before it.
private struct Outcome: Encodable {
    var status = 0
    var headers: [[String]] = []
    var body = Data()
    var error: String?

    private enum CodingKeys: String, CodingKey {
        case status, headers, error
        case body = "body_b64"
    }
}

extension AsyncStream where Element: Sendable {
    fileprivate init(_ elements: [Element]) {
        self.init { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish()
        }
    }
}

extension HTTP1Leniency {
    fileprivate static var everything: HTTP1Leniency {
        var leniency = HTTP1Leniency()
        leniency.acceptsBareLineFeeds = true
        leniency.unfoldsLines = true
        return leniency
    }
}
