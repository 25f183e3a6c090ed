import DirectHTTP
import DirectResolvers
import Foundation

/// Puts clients behind the standard input for the cases of `scripts/lab`. The argument has the settings,
/// each line an order, which may have settings for a client of its own, and each order is answered by a line
/// when it has ended; no order waits for another.
@main
enum LabClient {
    static func main() throws {
        let settings = try JSONDecoder().decode(Settings.self, from: Data(CommandLine.arguments[1].utf8))
        let jar = CookieJar()
        var clients: [Settings: HTTPClient] = [:]
        while let line = readLine() {
            let order = try JSONDecoder().decode(Order.self, from: Data(line.utf8))
            let settings = order.client ?? settings
            let client = try clients[settings] ?? settings.client(with: jar)
            clients[settings] = client
            Task.detached { await order.carryOut(with: client, jar) }
        }
    }
}

/// What differs from the default settings.
struct Settings: Decodable, Hashable {
    /// The file of the only roots to trust.
    var roots: String?
    /// The oldest version, `1.2` or `1.3`.
    var minimumTLS: String?
    /// The files of the client's certificate and its key.
    var identity: [String]?
    /// The cache's folder.
    var cache: String?
    /// The file of the answers of the system's resolver.
    var answers: String?
    /// The paths of Unix domain sockets by URL.
    var sockets: [String: String]?
    /// The DNS servers to ask in place of the system's resolver.
    var dns: [String]?

    func client(with jar: CookieJar) throws -> HTTPClient {
        try HTTPClient {
            $0.cookies = jar
            if let roots { $0.tls.roots = .only([.pemFile(roots)]) }
            if let minimumTLS { $0.tls.minimumVersion = minimumTLS == "1.3" ? .tls13 : .tls12 }
            if let identity, identity.count == 2 {
                $0.tls.clientIdentity = .files(certificateChain: identity[0], privateKey: identity[1])
            }
            if let answers {
                var settings = CachingResolver.Settings()
                settings.file = answers
                $0.resolver = CachingResolver(SystemResolver(), settings)
            }
            if let cache { $0.cache = try .directory(cache) }
            if let dns { $0.resolver = CachingResolver(PlainDNS(try dns.map { try Endpoint($0) })) }
            for (url, path) in sockets ?? [:] {
                $0.unixSockets[try HTTPURL(url).origin] = try UnixSocketPath(path)
            }
        }
    }
}

struct Order: Decodable {
    enum Kind: String, Decodable {
        case fetch, download, load, save
    }

    let id: Int
    let kind: Kind
    /// The settings of the client, if it is not that of the argument.
    var client: Settings?
    var url: String?
    /// GET, or POST or PUT with an `upload` of so many bytes.
    var method: String?
    var upload: Int?
    /// The file to send.
    var file: String?
    /// The limit of the whole call, in seconds.
    var total: Double?
    /// The file of a download or of cookies.
    var path: String?
    /// The permissions of a download's file.
    var mode: UInt16?
    /// The endpoint to connect to.
    var address: String?

    func carryOut(with client: HTTPClient, _ jar: CookieJar) async {
        var answer: [String: any Sendable] = ["id": id]
        do {
            answer.merge(try await result(of: client, jar)) { $1 }
        } catch {
            answer["error"] = "\(error)"
            answer["reason"] = (error as? HTTPError)?.word ?? "\(type(of: error))"
        }
        // One line in one call, so that answers do not mix.
        guard let line = try? JSONSerialization.data(withJSONObject: answer) else { return }
        FileHandle.standardOutput.write(line + [UInt8(ascii: "\n")])
    }

    private func result(of client: HTTPClient, _ jar: CookieJar) async throws -> [String: any Sendable] {
        switch kind {
        case .fetch:
            let response = try await client.fetch(request())
            return ["status": Int(response.status.code), "body": response.text ?? "no text"]
        case .download:
            var options = DownloadOptions()
            if let mode { options.mode = mode }
            try await client.download(request(), to: path ?? "", options: options)
            return [:]
        case .load:
            let faults = try await jar.load(from: path ?? "")
            return ["count": jar.cookies.count, "faults": faults.count]
        case .save:
            try await jar.save(to: path ?? "")
            return [:]
        }
    }

    private func request() throws -> HTTPClient.Request {
        var request = HTTPClient.Request(HTTPMethod(validating: method ?? "GET") ?? .get, url ?? "")
        if let upload { request.body = .bytes([UInt8](repeating: 0, count: upload)) }
        if let file { request.body = .file(file) }
        if let total { request.timeouts.total = .seconds(total) }
        if let address { request.addresses = [try Endpoint(address)] }
        return request
    }
}

extension HTTPError {
    /// A word for the reason, which the cases look for.
    fileprivate var word: String {
        switch reason {
        case .timedOut: "time"
        case .tls: "tls"
        case .connectionClosed, .system: "connection"
        case .download(.inProgress): "in progress"
        default: "another HTTPError"
        }
    }
}
