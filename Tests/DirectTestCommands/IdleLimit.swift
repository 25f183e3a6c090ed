package import Testing

/// Ends a test that waits for what never comes: when the process has had nothing at all to do for half a minute.
///
/// A limit of time would make the verdict depend on how fast and how busy the machine is. Here seconds count in which
/// the process takes next to no processor time: a test that is slow, or whose thread waits for its turn, takes more.
/// While a `ChildProcess` runs none counts, for the work may be the child's.
package struct IdleLimit: TestTrait, SuiteTrait, TestScoping {
    package var isRecursive: Bool { true }

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
                var isIdle = false
                for try await end in group {
                    switch end {
                    case .over(let result):
                        group.cancelAll()
                        if !isIdle { try result.get() }
                    case .idle:
                        isIdle = true
                        Issue.record("waits, while nothing happens in the whole process any more")
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
    /// Ends a test when the process has had nothing to do for half a minute.
    package static var idleLimit: Self { IdleLimit() }
}
