public import DirectHTTP
internal import DirectCore
public import DirectHTTP1
internal import DirectJSON

/// Answers requests from a HAR archive, in tests: what ``HARRecorder`` has recorded, or a browser.
///
/// ```swift
/// let replay = try HARReplay(archive)
/// let client = HTTPClient { $0.transport = replay.transport }
/// ```
///
/// A request is answered by the first unused entry with its method, its URL and, if the entry has one, its
/// body. Header fields are not compared, and neither are values that the recorder has hidden: requests that
/// differ in those alone are answered in the order of the archive. Each entry answers one request. The
/// content is not coded any more, so fields about its coding and length are left out, and so are fields whose
/// values the recorder has hidden.
public final class HARReplay: Sendable {
    private let exchanges: Locked<[ReplayedExchange]>
    private let redaction: Redaction

    /// Reads an archive.
    ///
    /// - Parameters:
    ///   - archive: The archive, as JSON.
    ///   - redaction: What the recorder has hidden: entries are compared with the requests as they are, and
    ///     with the same hidden.
    /// - Throws: ``HARError`` if it is no archive.
    public init(_ archive: String, redacting redaction: Redaction = Redaction()) throws(HARError) {
        let root: JSONValue
        do throws(JSONError) {
            // Programs on Windows write a mark of the byte order, which is no part of JSON (RFC 8259,
            // section 8.1).
            let bytes = Array(archive.utf8)
            root = try JSONReader.read(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes[3...]) : bytes)
        } catch {
            throw .invalid(line: error.line, error.what)
        }
        guard case .array(let entries)? = root["log"]?["entries"]?.content else {
            throw .invalid(line: root.line, "there is no list log.entries")
        }
        exchanges = Locked(
            try entries.map { entry throws(HARError) in
                try ReplayedExchange(entry, hasMasks: !redaction.isNone)
            }
        )
        self.redaction = redaction
    }

    /// The number of entries that have answered no request yet.
    public var unusedCount: Int { exchanges.withLock { $0.count } }

    /// Answers requests, as a client's `HTTPClient.Configuration.transport`.
    ///
    /// It throws a ``HARError`` for a request that is not in the archive. A content that was not recorded to
    /// its end is an error when it is read.
    public var transport: Forward {
        { [self] request in
            let url = try request.checkedURL()
            // A browser's archive hides nothing.
            let urls = [url.withoutCredentials.withoutFragment.text, redaction.shown(url)]
            let keys = urls.map { "\(request.method) \($0)" }
            let bodies = try await bodies(of: request)
            let found = exchanges.withLock { exchanges -> ReplayedExchange? in
                let index = exchanges.firstIndex {
                    keys.contains($0.key) && ($0.body.map(bodies.contains) ?? true)
                }
                return index.map { exchanges.remove(at: $0) }
            }
            guard let found else { throw HARError.notRecorded(request.method, url.redacted) }
            return try found.response(to: request)
        }
    }

    /// The body as archives may have it; empty if no unused entry has a body.
    private func bodies(of request: Request) async throws -> [[UInt8]] {
        guard exchanges.withLock({ $0.contains { $0.body != nil } }) else { return [] }
        var headers = request.headers
        if let type = request.body.contentType, !headers.contains("Content-Type") {
            headers["Content-Type"] = type
        }
        let body = try await request.body.collect(upTo: 1 << 26)
        return [body] + (redaction.shown(body: body, of: headers).map { [$0] } ?? [])
    }
}

/// A reason why a ``HARReplay`` cannot answer.
@nonexhaustive
public enum HARError: Error, Sendable, CustomStringConvertible {
    /// The text is no HAR archive.
    case invalid(line: Int, String)
    /// No unused entry fits the request.
    case notRecorded(HTTPMethod, HTTPURL)
    /// The entry in this line has no response: the recorded request failed.
    case failedWhenRecorded(line: Int)
    /// The entry in this line has a response without its content, which was not recorded to its end.
    case contentNotRecorded(line: Int)

    /// The reason, with the URL as logs may show it.
    public var description: String {
        switch self {
        case .invalid(let line, let what): "no HAR archive: line \(line): \(what)"
        case .notRecorded(let method, let url): "no unused entry of the archive is for \(method) \(url)"
        case .failedWhenRecorded(let line): "the entry in line \(line) has no response"
        case .contentNotRecorded(let line): "the entry in line \(line) has a response without its content"
        }
    }
}

/// A request of an archive with its response.
private struct ReplayedExchange: Sendable {
    let key: String
    /// The body of the request; `nil` if the archive has none.
    let body: [UInt8]?
    private let line: Int
    private let status: HTTPStatus?
    private let reason: String
    private let headers: HTTPHeaders
    /// The content; `nil` if it was not recorded.
    private let content: [UInt8]?

    init(_ entry: JSONValue, hasMasks: Bool) throws(HARError) {
        line = entry.line
        guard let request = entry["request"], let response = entry["response"],
            let method = request["method"]?.text, let address = request["url"]?.text
        else { throw .invalid(line: line, "an entry needs a request with method and url, and a response") }
        // Browsers write the fragment, which is never sent.
        key = "\(method) \((try? HTTPURL(address))?.withoutFragment.text ?? address)"
        let data = request["postData"]
        body = try Self.bytes(data, encoding: data?["_encoding"])
        guard let code = response["status"]?.number else {
            throw .invalid(line: response.line, "a response needs a status")
        }
        status = HTTPStatus(code: code)
        guard status != nil || code == 0 else { throw .invalid(line: response.line, "an invalid status") }
        reason = response["statusText"]?.text ?? ""
        let recorded = response["content"]
        headers = try Self.headers(
            response["headers"],
            isCoded: recorded?["_isCoded"] != nil,
            hasMasks: hasMasks
        )
        let isComplete = recorded?["_isComplete"] == nil
        let isEmpty = isComplete && (recorded?["size"]?.number ?? 0) == 0
        content = try Self.bytes(recorded, encoding: recorded?["encoding"]) ?? (isEmpty ? [] : nil)
    }

    func response(to request: Request) throws -> Response {
        guard let status else { throw HARError.failedWhenRecorded(line: line) }
        // A client that follows a redirect does not read its body, neither when it was recorded nor now.
        let failure = AsyncThrowingStream<[UInt8], any Error> { [line] in
            throw HARError.contentNotRecorded(line: line)
        }
        var body = try Response(to: request, status, stream: failure).body
        if let content { body.content = .complete(content, HTTPHeaders(), nil) }
        return Response(
            head: ResponseHead(status: status, reason: reason, headers: headers),
            body: body,
            url: try request.checkedURL().withoutCredentials,
            transaction: nil
        )
    }

    private static func bytes(_ value: JSONValue?, encoding: JSONValue?) throws(HARError) -> [UInt8]? {
        guard let value, let text = value["text"]?.text else { return nil }
        guard encoding?.text == "base64" else { return Array(text.utf8) }
        guard let bytes = Base64.decode(text) else { throw .invalid(line: value.line, "invalid base64") }
        return bytes
    }

    /// Returns the fields, without those about a coding that the recorded content no longer has.
    private static func headers(_ value: JSONValue?, isCoded: Bool, hasMasks: Bool) throws(HARError)
        -> HTTPHeaders
    {
        var headers = HTTPHeaders()
        guard case .array(let fields)? = value?.content else { return headers }
        for field in fields {
            guard let name = field["name"]?.text, let value = field["value"]?.text else {
                throw .invalid(line: field.line, "a field needs a name and a value")
            }
            let isOutdated =
                switch name.lowercased() {
                case "content-encoding": !isCoded
                case "content-length", "transfer-encoding": true
                default: false
                }
            if !isOutdated, !hasMasks || value != SecretItems.mask { headers.add(name, value) }
        }
        return headers
    }
}

extension JSONValue {
    fileprivate subscript(name: String) -> JSONValue? {
        guard case .object(let members) = content else { return nil }
        return members.first { $0.name == name }?.value
    }

    fileprivate var text: String? { if case .string(let text) = content { text } else { nil } }

    fileprivate var number: Int? { if case .number(let text) = content { Int(text) } else { nil } }
}
