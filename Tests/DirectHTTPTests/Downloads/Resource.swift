@testable import DirectCore
import DirectIO
import TLSFixtures
import Testing

@testable import DirectHTTP

/// A resource that servers send whole or in parts, as RFC 9110 says, with faults for one request after the
/// other.
final class Resource: Sendable {
    /// What a server does wrong with one request.
    enum Fault: Sendable {
        /// The connection ends after so many bytes of the body.
        case cut(after: Int)
        /// The connection stays open after so many bytes of the body, without any more.
        case stall(after: Int, Gate)
        /// This response instead.
        case reply(FixtureReply)
    }

    struct Asked: Sendable, Equatable {
        var range: String?
        var condition: String?
        var address: String
    }

    private struct State {
        var content: [UInt8]
        var headers: FixtureHeaders
        var faults: [Fault?]
        var asked: [Asked] = []
    }

    private let state: Locked<State>

    init(_ content: [UInt8], _ headers: FixtureHeaders = ["ETag": "\"1\""], faults: [Fault?] = []) {
        state = Locked(State(content: content, headers: headers, faults: faults))
    }

    convenience init(count: Int, _ headers: FixtureHeaders = ["ETag": "\"1\""], faults: [Fault?] = []) {
        self.init(pattern(at: 0, count: count), headers, faults: faults)
    }

    /// What the servers were asked for, in order.
    var asked: [Asked] { state.withLock { $0.asked } }
    /// The values of `Range`; `nil` for the whole.
    var ranges: [String?] { asked.map(\.range) }

    /// Makes another version of the resource.
    func change(to content: [UInt8], _ headers: FixtureHeaders) {
        state.withLock { ($0.content, $0.headers) = (content, headers) }
    }

    func fault(_ faults: Fault?...) {
        state.withLock { $0.faults = faults }
    }

    /// The answer to a request, for a ``FixtureServer``.
    func answer(_ request: FixtureRequest) -> FixtureReply {
        let (range, condition) = (request.headers["range"], request.headers["if-range"])
        let (content, headers, fault) = state.withLock { state in
            state.asked.append(Asked(range: range, condition: condition, address: request.serverAddress))
            let fault = state.faults.isEmpty ? nil : state.faults.removeFirst()
            return (state.content, state.headers, fault)
        }
        if case .reply(let reply) = fault { return reply }
        var (status, start, headersSent) = (200, 0, headers)
        if let range, condition == nil || condition == headers["etag"] ?? headers["last-modified"],
            let first = Int(range.dropFirst("bytes=".count).dropLast())
        {
            guard first < content.count else {
                return .status(416, ["Content-Range": "bytes */\(content.count)"])
            }
            (status, start) = (206, first)
            headersSent.append("Content-Range", "bytes \(first)-\(content.count - 1)/\(content.count)")
        }
        return Self.body(Array(content[start...]), status: status, headersSent, fault: fault)
    }

    private static func body(_ bytes: [UInt8], status: Int, _ headers: FixtureHeaders, fault: Fault?)
        -> FixtureReply
    {
        switch fault {
        case .cut(let count):
            let reply = FixtureReply.bytes(Array(bytes.prefix(count)), status: status, headers)
            return reply.adding("Content-Length", value: "\(bytes.count)").then(.cut)
        case .stall(let count, let gate):
            return .written(status: status, headers, length: bytes.count, framing: .length) { writer in
                try writer.write(Array(bytes.prefix(count)))
                try writer.wait(for: gate)
            }
        default: return .bytes(bytes, status: status, headers)
        }
    }

    /// Starts a server with this resource on each address, all on one port.
    func servers(_ addresses: String...) throws -> [FixtureServer] {
        try FixtureServer.startOnSamePort(addresses) { self.answer($0) }
    }

    func server() throws -> FixtureServer { try FixtureServer.start { self.answer($0) } }
}

extension HTTPClient {
    /// A client that retries without delay.
    static func downloading(_ configure: (inout Configuration) -> Void = { _ in }) -> HTTPClient {
        .trusting { settings in
            var policy = RetryPolicy()
            policy.delay = .zero
            policy.budget = nil
            settings.retries = policy
            // No race: on a busy machine the second address would be tried beside the first.
            settings.dialling.keepsOrder = true
            configure(&settings)
        }
    }
}

extension HTTPError {
    var downloadError: DownloadError? { if case .download(let error) = reason { error } else { nil } }
}

/// Leaves the files of a download to this path that was broken off: a part with these bytes, and this record.
func plantDownload(to path: String, _ content: some Sequence<UInt8>, record: [UInt8]) throws {
    let owner = PartialFile.Owner(title: Array((DownloadRecord.title + "\n").utf8))
    let file = try #require(try PartialFile.open(path, mode: 0o600, of: owner))
    try #require(file.canBeContinued)
    try file.saveRecord(record)
    try file.write(Array(content), at: 0)
    file.close()
}
