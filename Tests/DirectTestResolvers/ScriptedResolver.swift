@testable import DirectCore
import DirectIO
import DirectTestTime
@testable import DirectTransport
import Testing

@testable import DirectHTTP

/// A resolver that says what its closure says, and counts how often it was asked.
final class ScriptedResolver: Resolver {
    let name: String
    let dependsOnPort: Bool
    private let questions = Locked<[String]>([])
    private let reports = Locked<[String]>([])
    private let answer: @Sendable (DomainName, UInt16) async throws -> Resolution

    init(
        _ name: String = "scripted",
        dependsOnPort: Bool = false,
        _ answer: @escaping @Sendable (DomainName, UInt16) async throws -> Resolution
    ) {
        self.name = name
        self.dependsOnPort = dependsOnPort
        self.answer = answer
    }

    /// A resolver that always gives these.
    convenience init(_ name: String, _ endpoints: [Endpoint], timeToLive: Duration? = nil) {
        self.init(name) { _, _ in Resolution(endpoints, timeToLive: timeToLive, source: .resolver(name)) }
    }

    /// A resolver that always fails.
    convenience init(_ name: String, _ reason: ResolverError.Reason) {
        self.init(name) { _, _ in throw ResolverError(name, reason) }
    }

    var asked: [String] { questions.withLock { $0 } }
    var reported: [String] { reports.withLock { $0 } }

    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        questions.withLock { $0.append("\(host):\(port)") }
        return try await answer(host, port)
    }

    func report(_ outcome: DialOutcome, of endpoint: Endpoint, for host: DomainName, port: UInt16) {
        reports.withLock { $0.append("\(endpoint) \(host)") }
    }
}

/// A gate that a scripted answer can wait at.
final class Barrier: Sendable {
    fileprivate struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var arrivals = 0
        var expected: (count: Int, CheckedContinuation<Void, Never>)?
    }

    private let state = Locked(State())

    /// Returns once the gate is open.
    func pass() async {
        await withCheckedContinuation { continuation in
            let (isOpen, expected) = state.withLock { state in
                state.arrivals += 1
                if !state.isOpen { state.waiting.append(continuation) }
                defer { if state.hasAll { state.expected = nil } }
                return (state.isOpen, state.hasAll ? state.expected?.1 : nil)
            }
            if isOpen { continuation.resume() }
            expected?.resume()
        }
    }

    /// Returns once so many have come to the gate.
    func arrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrivals >= count { return true }
                state.expected = (count, continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension Barrier.State {
    fileprivate var hasAll: Bool { expected.map { arrivals >= $0.count } ?? false }
}

extension DomainName {
    /// A name that is known to be one.
    static func test(_ text: String) -> DomainName {
        guard let name = try? DomainName(text) else { fatalError("\(text) is no name") }
        return name
    }
}

extension Resolver {
    /// The texts of the endpoints for a name.
    func endpoints(_ host: String, port: UInt16 = 443, on loop: EventLoop = .still) async throws -> [String] {
        try await resolve(DomainName(host), port: port, context: ResolveContext(on: loop)).endpoints.map(
            \.description
        )
    }
}

/// The resolver's error that the operation has to throw.
func resolverError(
    _ sourceLocation: SourceLocation = #_sourceLocation,
    _ operation: () async throws -> some Any
) async throws -> ResolverError {
    try #require(
        await #expect(throws: ResolverError.self, sourceLocation: sourceLocation) {
            _ = try await operation()
        },
        sourceLocation: sourceLocation
    )
}
