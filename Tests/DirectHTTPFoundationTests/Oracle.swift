#if canImport(FoundationNetworking)
import DirectCore
import DirectHTTP
import DirectHTTPFoundation
import DirectIO
import Foundation
import FoundationNetworking
import TLSFixtures

/// One combination of what a program can do with a task.
struct OracleCell: Hashable, Sendable, CustomStringConvertible {
    /// The kind of the task, with its body.
    enum Call: CaseIterable {
        case get, getOfDelegate, getAsync, head, postOfHandler, postOfDelegate, postOfStream
        case uploadOfData, uploadOfFile, uploadOfStream, uploadOfHandler, uploadOfLength
    }

    /// `rebuilt` is one to which the delegate answers with a request of its own, with a body.
    enum Redirect: CaseIterable { case none, found, seeOther, temporary, elsewhere, app, refused, rebuilt }

    /// What happens to the session's cookies.
    enum Cookies: CaseIterable { case none, login, secure, path, unwanted, never, expired }

    /// The content, and the fields that the program sets.
    enum Content: CaseIterable {
        case plain, gzip, gzipForAlamofire, gzipUnlessIdentity, alamofire, afNetworking, httpDNS, owned
    }

    /// When the task is cancelled.
    enum Cancel: CaseIterable { case never, beforeStart, beforeResponse, inBody }

    var call: Call
    var redirect = Redirect.none
    var cookies = Cookies.none
    var content = Content.plain
    var cancel = Cancel.never

    var description: String { "\(call) redirect:\(redirect) cookies:\(cookies) \(content) cancel:\(cancel)" }

    /// Each kind of task with each redirect, the cookies of a login or none; with other cookies, and a
    /// redirect or none; with each content, and each cancellation.
    static let all: [OracleCell] = Call.allCases.flatMap { call in
        let redirected = Redirect.allCases.flatMap { redirect in
            [Cookies.none, .login].map { OracleCell(call: call, redirect: redirect, cookies: $0) }
        }
        let others = [Cookies.secure, .path, .unwanted, .never, .expired].flatMap { cookies in
            [Redirect.none, .found].map { OracleCell(call: call, redirect: $0, cookies: cookies) }
        }
        let contents = Content.allCases.dropFirst().map { OracleCell(call: call, content: $0) }
        let cancels = Cancel.allCases.dropFirst().map { OracleCell(call: call, cancel: $0) }
        return (redirected + others + contents + cancels).filter(\.isDecided)
    }

    /// Whether it is the program that decides about the end.
    private var isDecided: Bool {
        switch (call, redirect, cancel) {
        // No delegate is asked about the redirect.
        case (_, .refused, _) where !hasDelegate: false
        case (_, .rebuilt, _) where !hasDelegate: false
        // FoundationNetworking passes the cancellation on in a task of its own, some time.
        case (.getAsync, _, .beforeStart): false
        // There is no body in which to cancel.
        case (.head, _, .inBody): false
        default: true
        }
    }

    var hasDelegate: Bool {
        switch call {
        case .get, .getAsync, .head, .postOfHandler, .uploadOfHandler: false
        default: true
        }
    }
    var hasBody: Bool {
        switch call {
        case .get, .getOfDelegate, .getAsync, .head: false
        default: true
        }
    }
    var method: String {
        switch call {
        case .get, .getOfDelegate, .getAsync: "GET"
        case .head: "HEAD"
        case .postOfHandler, .postOfDelegate, .postOfStream: "POST"
        default: "PUT"
        }
    }
}

/// What a program and a server see of a task.
struct OracleOutcome: Equatable, Sendable, CustomStringConvertible {
    /// A request as the server has received it.
    struct Arrival: Equatable, Sendable, CustomStringConvertible {
        var method: String
        /// The first server's are `/start` and `/next`, the other server's is `/other`.
        var path: String
        var count: Int
        /// `length`, `chunked` or `none`.
        var framing: String
        /// Some fields; `nil` for those that are not there.
        var fields: [String: String]

        var description: String {
            "\(method) \(path) \(count) \(framing) "
                + fields.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: "; ")
        }
    }

    var arrivals: [Arrival] = []
    /// The calls of the delegate, with one `data` for all pieces.
    var events: [String] = []
    var status: Int?
    var body = ""
    var expectedLength: Int64?
    var error: Int?
    /// The names of the session's cookies afterwards.
    var cookies: [String] = []

    var description: String {
        "\(arrivals) events:\(events) status:\(status ?? 0) body:\(body.prefix(20)) "
            + "length:\(expectedLength ?? -9) error:\(error ?? 0) cookies:\(cookies)"
    }
}

/// Two servers, and tasks that are sent to them by a session with our class or without.
final class Oracle: Sendable {
    private let server: FixtureServer
    private let other: FixtureServer
    private let meetings = Locked<[String: Meeting]>([:])
    private let file: URL
    private let numbers = Locked(0)

    /// The server's side of a task that is cancelled.
    private struct Meeting: Sendable {
        let gate = Gate()
        let arrived = AsyncStream<Void>.makeStream()
    }

    /// "hello", as gzip codes it.
    private static let coded: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
    ]

    init() throws {
        file = FileManager.default.temporaryDirectory.appendingPathComponent("oracle-\(UUID().uuidString)")
        try Data("body".utf8).write(to: file)
        let other = try FixtureServer.start { request in
            _ = try request.body
            return .text("there")
        }
        self.other = other
        let meetings = meetings
        server = try FixtureServer.start { request in
            let parts = request.path.split(separator: "/").map(String.init)
            _ = try request.body
            let meeting = meetings.withLock { $0[parts.first ?? ""] }
            guard parts.count == 3 else { return .status(404) }
            switch parts[2] {
            case "app":
                return .text("moved", status: 302, ["Location": "myapp://callback?code=42"])
            case "elsewhere":
                return .redirect(to: "http://\(other.authority)/\(parts[0])/0/other")
            case "302", "303", "307":
                return .redirect(to: "/\(parts[0])/0/next", status: Int(parts[2]) ?? 0)
                    .adding("Set-Cookie", value: "sid=NEW; Path=/")
            case "gzip":
                let isDeclined = request.headers["accept-encoding"] == "identity"
                return isDeclined ? .text("hello") : .bytes(Oracle.coded, ["Content-Encoding": "gzip"])
            case "wait":
                meeting?.arrived.continuation.finish()
                if let meeting { try request.wait(for: meeting.gate) }
                return .text("late")
            case "part":
                meeting?.arrived.continuation.finish()
                return .written { writer in
                    try writer.write("first")
                    if let meeting { try writer.wait(for: meeting.gate) }
                    try writer.write("second")
                }
            default: return .text("hello")
            }
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: file)
    }

    /// Runs a task, with our class in its session or without.
    func run(_ cell: OracleCell, with client: HTTPClient?) async throws -> OracleOutcome {
        let id = numbers.withLock { numbers in
            numbers += 1
            return "\(numbers)"
        }
        let meeting = Meeting()
        meetings.withLock { $0[id] = meeting }
        defer { meeting.gate.open() }
        let configuration = cell.configuration(with: client)
        let recorder = OracleRecorder(cell)
        let session = URLSession(
            configuration: configuration,
            delegate: cell.hasDelegate ? recorder : nil,
            delegateQueue: nil
        )
        let storage = configuration.httpCookieStorage ?? .shared
        cell.fill(storage, server.address)
        let request = try cell.request(to: server, id: id)
        await recorder.run(session, request, file) {
            if cell.cookies == .login { cell.change(storage, self.server.address) }
        } atServer: {
            for await _ in meeting.arrived.stream {}
        }
        session.finishTasksAndInvalidate()
        var outcome = recorder.outcome
        outcome.arrivals = arrivals(server, id) + arrivals(other, id)
        outcome.cookies = (storage.cookies ?? []).map { "\($0.name)=\($0.value)" }.sorted()
        return outcome
    }

    private func arrivals(_ server: FixtureServer, _ id: String) -> [OracleOutcome.Arrival] {
        server.requests.filter { $0.target.hasPrefix("/\(id)/") }.map { request in
            var fields: [String: String] = [:]
            for name in ["content-type", "cookie", "x-secret", "upgrade", "user-agent", "host"] {
                fields[name] = request.headers[name]
            }
            // Both may send cookies of one age in any order.
            if let cookies = fields["cookie"] {
                fields["cookie"] = cookies.components(separatedBy: "; ").sorted().joined(separator: "; ")
            }
            if fields["user-agent"]?.hasPrefix("App") != true { fields["user-agent"] = nil }
            if fields["host"]?.contains(":") == true { fields["host"] = nil }
            fields["accept-language"] = request.headers["accept-language"] == nil ? nil : "yes"
            let framing =
                request.headers["transfer-encoding"] ?? (request.headers["content-length"] ?? "0")
            let end = request.target.split(separator: "/").last ?? ""
            return OracleOutcome.Arrival(
                method: request.method,
                path: ["next", "other"].contains(end) ? "/\(end)" : "/start",
                count: request.bodyText.utf8.count,
                framing: framing == "0" ? "none" : framing == "chunked" ? "chunked" : "length",
                fields: fields
            )
        }
    }
}

extension OracleCell {
    fileprivate func configuration(with client: HTTPClient?) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        if let client { configuration.protocolClasses = [client.urlProtocolClass()] }
        if cookies == .never { configuration.httpCookieAcceptPolicy = .never }
        switch content {
        case .gzipForAlamofire, .alamofire:
            configuration.httpAdditionalHeaders = [
                "Accept-Encoding": "br;q=1.0, gzip;q=0.9, deflate;q=0.8",
                "Accept-Language": "en;q=1.0", "User-Agent": "App/1.0 Alamofire/5.9.0",
            ]
        case .owned:
            configuration.httpAdditionalHeaders = ["Connection": "keep-alive", "Upgrade": "h2c"]
        default: break
        }
        return configuration
    }

    fileprivate func request(to server: FixtureServer, id: String) throws -> URLRequest {
        let paths: [Redirect: String] = [
            .none: "start", .found: "302", .seeOther: "303", .temporary: "307", .elsewhere: "elsewhere",
            .app: "app", .refused: "302", .rebuilt: "303",
        ]
        var path = paths[redirect] ?? ""
        if [.gzip, .gzipForAlamofire, .gzipUnlessIdentity].contains(content) { path = "gzip" }
        if cancel == .beforeResponse { path = "wait" }
        if cancel == .inBody { path = "part" }
        guard let url = URL(string: "http://\(server.authority)/\(id)/0/\(path)") else {
            throw URLError(.badURL)
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.setValue("s", forHTTPHeaderField: "X-Secret")
        if cookies == .unwanted { request.httpShouldHandleCookies = false }
        switch content {
        case .gzipUnlessIdentity: request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        case .afNetworking:
            request.setValue("en;q=1", forHTTPHeaderField: "Accept-Language")
            request.setValue("App/1.0 (iPhone; iOS 17.0; Scale/3.00)", forHTTPHeaderField: "User-Agent")
        case .httpDNS: request.setValue(server.address, forHTTPHeaderField: "Host")
        default: break
        }
        switch call {
        case .postOfHandler, .postOfDelegate: request.httpBody = Data("body".utf8)
        case .postOfStream: request.httpBodyStream = InputStream(data: Data("body".utf8))
        case .uploadOfLength: request.setValue("4", forHTTPHeaderField: "Content-Length")
        default: break
        }
        return request
    }

    fileprivate func fill(_ storage: HTTPCookieStorage, _ host: String) {
        switch cookies {
        case .none: break
        case .login, .unwanted, .never: storage.set("sid", "OLD", host)
        case .secure: storage.set("sid", "SECRET", host, isSecure: true)
        case .path: storage.set("sid", "PRIVATE", host, path: "/private")
        case .expired:
            // A storage removes what has expired when a cookie is set: so it expires within its second.
            while storage.cookies?.isEmpty != false {
                let end = Date().timeIntervalSince1970.rounded(.down) + 0.999
                storage.set("sid", "EXPIRED", host, expiry: Date(timeIntervalSince1970: end))
            }
        }
    }

    /// Another response of the same session sets a cookie after the task was made.
    fileprivate func change(_ storage: HTTPCookieStorage, _ host: String) {
        storage.set("theme", "dark", host)
    }
}

extension HTTPCookieStorage {
    fileprivate func set(
        _ name: String,
        _ value: String,
        _ host: String,
        path: String = "/",
        isSecure: Bool = false,
        expiry: Date? = nil
    ) {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: host, .path: path,
        ]
        if isSecure { properties[.secure] = "TRUE" }
        properties[.expires] = expiry
        if let cookie = HTTPCookie(properties: properties) { setCookie(cookie) }
    }
}
#endif
