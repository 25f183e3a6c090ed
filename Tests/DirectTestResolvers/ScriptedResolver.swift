package import DirectCore
package import DirectHTTP
package import DirectIO
import DirectTestTime
package import Testing

/// A resolver that says what its closure says, and counts how often it was asked.
package final class ScriptedResolver: Resolver {
    package let name: String
    package let dependsOnPort: Bool
    private let questions = Locked<[String]>([])
    private let reports = Locked<[String]>([])
    private let answer: @Sendable (DomainName, UInt16) async throws -> Resolution

    package init(
        _ name: String = "scripted",
        dependsOnPort: Bool = false,
        _ answer: @escaping @Sendable (DomainName, UInt16) async throws -> Resolution
    ) {
        self.name = name
        self.dependsOnPort = dependsOnPort
        self.answer = answer
    }

    /// A resolver that always gives these.
    package convenience init(_ name: String, _ endpoints: [Endpoint], timeToLive: Duration? = nil) {
        self.init(name) { _, _ in Resolution(endpoints, timeToLive: timeToLive, source: .resolver(name)) }
    }

    /// A resolver that always fails.
    package convenience init(_ name: String, _ reason: ResolverError.Reason) {
        self.init(name) { _, _ in throw ResolverError(name, reason) }
    }

    package var asked: [String] { questions.withLock { $0 } }
    package var reported: [String] { reports.withLock { $0 } }

    package func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution
    {
        questions.withLock { $0.append("\(host):\(port)") }
        return try await answer(host, port)
    }

    package func report(
        _ outcome: Result<Duration, any Error>,
        of endpoint: Endpoint,
        for host: DomainName,
        port: UInt16
    ) {
        reports.withLock { $0.append("\(endpoint) \(host)") }
    }
}

/// A gate that a scripted answer can wait at.
package final class Barrier: Sendable {
    fileprivate struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var arrivals = 0
        var expected: (count: Int, CheckedContinuation<Void, Never>)?
    }

    private let state = Locked(State())

    package init() {}

    /// Returns once the gate is open.
    package func pass() async {
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
    package func arrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrivals >= count { return true }
                state.expected = (count, continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    package func open() {
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
    package static func test(_ text: String) -> DomainName {
        guard let name = try? DomainName(text) else { fatalError("\(text) is no name") }
        return name
    }
}

extension Resolver {
    /// The texts of the endpoints for a name.
    package func endpoints(_ host: String = "a.test", port: UInt16 = 443, on loop: EventLoop = .still)
        async throws
        -> [String]
    {
        try await resolve(DomainName(host), port: port, context: ResolveContext(on: loop)).endpoints.map(
            \.description
        )
    }
}

/// The resolver's error that the operation has to throw.
package func resolverError(
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
