public import DirectHTTP
internal import Synchronization

/// Logs the requests of a client on the network, each a few lines, with as much as a level says.
///
/// ```swift
/// let client = HTTPClient { HTTPLogger(.headers) { print($0) }.install(in: &$0) }
/// ```
///
/// Redirects, retries and answers to challenges are requests of their own. Responses of a cache are not
/// logged, because no request is made for them. The values of secret fields, also of others that look like
/// credentials, and those of queries and of fragments are left out or replaced by `***`; bodies are never
/// logged. No value can break a line or control a terminal.
public struct HTTPLogger: Sendable {
    /// The level of detail.
    public enum Level: Int, Hashable, Comparable, Sendable {
        /// Nothing.
        case none
        /// Method, URL, address, status and times.
        case basic
        /// Header fields as well, those that the client adds included.
        case headers
        /// The sizes of bodies as well, that of a response when it has been read.
        case bodySizes

        /// Whether the level logs less than the other one.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    private let level: Level
    private let redaction: FieldRedaction
    private let write: @Sendable (String) -> Void
    /// Tells the loggers of one client apart.
    private let identity = Identity()

    /// Makes a logger.
    ///
    /// - Parameters:
    ///   - level: How much is logged.
    ///   - secretFields: The header fields whose values are hidden, besides those that carry credentials.
    ///     Names are compared ignoring case.
    ///   - write: Gets each line, on any thread, several at the same time. It must not block.
    public init(
        _ level: Level,
        hiding secretFields: Set<String> = [],
        _ write: @escaping @Sendable (String) -> Void
    ) {
        self.level = level
        redaction = FieldRedaction(hiding: FieldRedaction.usual.union(secretFields))
        self.write = write
    }

    /// Makes clients with these settings log: adds a network interceptor behind those that are there, and
    /// for the sizes of bodies an observer before the one that is there.
    public func install(in configuration: inout HTTPClient.Configuration) {
        guard level > .none else { return }
        configuration.networkInterceptors.append { try await logged($0, through: $1) }
        guard level >= .bodySizes else { return }
        configuration.observer = { [self, next = configuration.observer] event in
            if case .bodyEnded(let bytes, let isWhole) = event.kind,
                let number = event.tags[Numbers.self]?[ObjectIdentifier(identity)]
            {
                let text = "<-- \(isWhole ? "" : "abandoned after ")\(bytes) bytes of body"
                if number.mayShow(end: text) { line(of: number, text) }
            }
            next?(event)
        }
    }

    private final class Identity: Sendable {}

    /// The numbers of a request in the logs of all loggers.
    private typealias Numbers = [ObjectIdentifier: Number]

    /// The number of a request in the log, and the line about the end of its response's body if that came
    /// with the head: it is written behind the head.
    private final class Number: Sendable {
        private static let last = Atomic<UInt64>(0)
        let value = Number.last.wrappingAdd(1, ordering: .relaxed).newValue
        private let state = Mutex<(isHeadShown: Bool, end: String?)>((false, nil))

        /// Returns whether the head is in the log. If not, the line is kept.
        func mayShow(end: String) -> Bool {
            state.withLock { state in
                if !state.isHeadShown { state.end = end }
                return state.isHeadShown
            }
        }

        /// Returns the line that was kept.
        func showedHead() -> String? {
            state.withLock { state in
                state.isHeadShown = true
                return state.end
            }
        }
    }

    private func logged(
        _ request: HTTPClient.Request,
        through forward: Forward
    ) async throws -> HTTPClient.Response {
        let number = Number()
        var request = request
        var numbers = request.tags[Numbers.self] ?? [:]
        numbers[ObjectIdentifier(identity)] = number
        request.tags[Numbers.self] = numbers
        line(of: number, "--> \(request.method) \((try? request.url.redacted.text) ?? "an invalid URL")")
        log(request.headers, of: number, arrow: "-->")
        if level >= .bodySizes { line(of: number, "--> \(Self.size(of: request))") }
        let start = ContinuousClock.now
        do {
            let response = try await forward(request)
            let place =
                response.transaction.map { " from \($0.place)\($0.isReused ? ", reused" : "")" } ?? ""
            line(of: number, "<-- \(response.status)\(place), \(Self.time(since: start))")
            log(response.headers, of: number, arrow: "<--")
            if let end = number.showedHead() { line(of: number, end) }
            return response
        } catch {
            line(of: number, "<-- \(Self.text(of: error)), \(Self.time(since: start))")
            throw error
        }
    }

    private func line(of number: Number, _ text: String) {
        write("#\(number.value) \(text.printable)")
    }

    private func log(_ headers: HTTPHeaders, of number: Number, arrow: String) {
        guard level >= .headers else { return }
        for field in headers {
            line(of: number, "\(arrow) \(field.name): \(redaction.shown(field.name, field.value))")
        }
    }

    private static func size(of request: HTTPClient.Request) -> String {
        if let length = request.headers["Content-Length"] { return "\(length) bytes of body" }
        return request.headers.contains("Transfer-Encoding") ? "a body in chunks" : "no body"
    }

    private static func time(since start: ContinuousClock.Instant) -> String {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000) ms"
    }

    /// The error of other code may contain anything, even secrets.
    private static func text(of error: any Error) -> String {
        switch error {
        case let error as HTTPError: "failed: \(error)"
        case is CancellationError: "cancelled"
        default: "failed in other code"
        }
    }
}
