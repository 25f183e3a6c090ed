package import Testing

/// For a test whose body runs in a process of its own (`#expect(processExitsWith:)`).
///
/// The test blocks one of the few threads that all tests share until that process ends. Therefore one such
/// test runs at a time, and ``IdleLimit`` does not count while the others wait for it.
package struct OwnProcess: TestTrait, TestScoping {
    /// Runs the test when it is its turn.
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        await Turn.shared.take()
        Idleness.shared.childHasBegun()
        let result: Result<Void, any Error>
        do { result = .success(try await function()) } catch { result = .failure(error) }
        Idleness.shared.childHasEnded()
        await Turn.shared.end()
        try result.get()
    }
}

extension Trait where Self == OwnProcess {
    /// Runs the test while no other one has a process of its own.
    package static var ownProcess: Self { OwnProcess() }
}

/// The permission to have such a process, which one test at a time holds.
private actor Turn {
    static let shared = Turn()

    private var isTaken = false
    private var waiting: [UnsafeContinuation<Void, Never>] = []

    /// Waits for the permission.
    func take() async {
        guard isTaken else { return isTaken = true }
        await withUnsafeContinuation { waiting.append($0) }
    }

    /// Passes the permission on to the test that has waited longest.
    func end() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        isTaken = false
    }
}
