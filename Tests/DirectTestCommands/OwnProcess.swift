package import Testing

/// For a test whose body runs in a process of its own (`#expect(processExitsWith:)`).
///
/// Its caller blocks one of the few threads that all tests share until that process ends. So one such test runs at a
/// time, and `IdleLimit` does not take the others' waiting for idleness.
package struct OwnProcess: TestTrait, TestScoping {
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
    /// Runs the test when no other one has a process of its own.
    package static var ownProcess: Self { OwnProcess() }
}

/// The right to have such a process, given to one after the other.
private actor Turn {
    static let shared = Turn()

    private var isTaken = false
    private var waiting: [UnsafeContinuation<Void, Never>] = []

    func take() async {
        guard isTaken else { return isTaken = true }
        await withUnsafeContinuation { waiting.append($0) }
    }

    func end() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        isTaken = false
    }
}
