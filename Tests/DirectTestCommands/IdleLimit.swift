package import Testing

/// Fails a test that waits forever, when the process has been idle for half a minute.
///
/// A time limit would make the verdict depend on the speed and load of the machine. This one counts the
/// seconds in which the process uses almost no processor time: a test that is slow, or whose thread waits for
/// the processor, uses more. The time of a ``TestProcess`` counts like that of the tests; while one runs, the
/// limit is a minute and a half.
///
/// A test that ignores its cancellation, too, would keep the run from its end: once the process has been idle
/// for as long again, it ends.
package struct IdleLimit: TestTrait, SuiteTrait, TestScoping {
    /// Always `true`: the limit of a suite holds for all tests in it.
    package var isRecursive: Bool { true }

    /// Runs the test, and cancels it when the process is idle.
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withoutActuallyEscaping(function) { function in
            try await withThrowingTaskGroup(of: End.self) { group in
                group.addTask { await Idleness.shared.isLong() ? .idle : .unwatched }
                group.addTask {
                    do { return .over(.success(try await function())) } catch {
                        return .over(.failure(error))
                    }
                }
                var (isIdle, isOver) = (false, false)
                for try await end in group {
                    switch end {
                    case .over(let result):
                        group.cancelAll()
                        isOver = true
                        if isIdle { Idleness.shared.endedLate() } else { try result.get() }
                    case .idle where isOver: Idleness.shared.endedLate()
                    case .idle:
                        isIdle = true
                        Issue.record("waits while the process and its children have been idle")
                        group.cancelAll()
                    case .unwatched: break
                    }
                }
            }
        }
    }

    private enum End {
        case over(Result<Void, any Error>)
        case idle
        case unwatched
    }
}

extension Trait where Self == IdleLimit {
    /// Fails a test when the process has been idle for half a minute.
    package static var idleLimit: Self { IdleLimit() }
}
