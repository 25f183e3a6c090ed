import DirectHTTP
import Foundation

/// The job that a harness writes to the standard input.
struct Job: Decodable {
    let connect: String
    let transfers: [Transfer]
}

/// One request of a job, in the harness's words; they are much like curl's options.
struct Transfer: Decodable {
    let url: String
    let method: String
    let headers: [[String]]?
    let removedHeaders: [String]?
    let body: Data?
    let isChunked: Bool?
    let cookie: String?
    /// User name and password, a colon between them.
    let user: String?
    let bearer: String?
    let decompress: Bool?
    let hasJar: Bool?
    /// A file of cookies, which the jar has at the beginning.
    let jarFile: String?
    /// Whether to forget the cookies of the session.
    let isNewSession: Bool?
    let follows: Bool?
    let redirectLimit: Int?
    /// Whether credentials and fields go along wherever redirects lead.
    let trustsEverybody: Bool?
    /// The statuses after which POST stays POST.
    let keptPost: [UInt16]?
    let sendsReferer: Bool?
    /// The schemes that redirects may lead to, as curl's `--proto-redir` has them.
    let redirectSchemes: String?
    /// How long to wait for permission to send the body, in seconds.
    let patience: Double?
    let timeout: Double?
    let limit: Int?

    private enum CodingKeys: String, CodingKey {
        case url, method, headers, cookie, user, bearer, decompress, timeout
        case removedHeaders = "remove_headers"
        case body = "body_b64"
        case isChunked = "chunked_upload"
        case hasJar = "jar"
        case jarFile = "jar_file"
        case isNewSession = "junk"
        case follows = "follow"
        case redirectLimit = "max_redirects"
        case trustsEverybody = "trusted"
        case keptPost = "keep_post"
        case sendsReferer = "autoreferer"
        case redirectSchemes = "proto_redir"
        case patience = "expect100"
        case limit = "max_bytes"
    }

    func prepare(_ jar: CookieJar?) {
        if let jarFile { jar?.add(content: Array(jarFile.utf8)) }
        if isNewSession == true { jar?.endSession() }
    }

    func outcome(_ client: HTTPClient) async -> Outcome {
        var outcome = Outcome()
        do {
            let response = try await client.send(request())
            outcome.status = Int(response.status.code)
            outcome.headers = response.headers.map { [$0.name, $0.value] }
            let limit = limit ?? 64 * 1024 * 1024
            if let length = response.headers["Content-Length"].flatMap({ Int($0) }), length > limit {
                throw UsageError("more than \(limit) bytes are announced")
            }
            if decompress == true, response.status != 206, response.body.decoding == .leftCoded {
                throw UsageError("in an unknown coding")
            }
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
}
