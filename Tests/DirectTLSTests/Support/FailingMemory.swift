#if canImport(Glibc)
import CDirectOpenSSL
import Glibc

@testable import DirectTLS

/// OpenSSL's memory, of which one allocation can be made to fail. For a process of its own, before OpenSSL is
/// used.
enum FailingMemory {
    /// How many allocations still go well; negative when one has failed.
    nonisolated(unsafe) private static var left = Int.max
    nonisolated(unsafe) private static var isArmed = false

    struct TooLate: Error {}

    static func install() throws {
        let isDone = CRYPTO_set_mem_functions(
            { size, _, _ in FailingMemory.isDue() ? nil : malloc(size) },
            { old, size, _, _ in FailingMemory.isDue() ? nil : realloc(old, size) },
            { old, _, _ in free(old) }
        )
        guard isDone == 1 else { throw TooLate() }
    }

    /// Lets the allocation after so many others fail, and the ones behind it go well again. Says whether it
    /// came to that.
    static func withFailure(after count: Int, _ body: () -> Void) -> Bool {
        left = count
        isArmed = true
        defer { isArmed = false }
        body()
        return left < 0
    }

    private static func isDue() -> Bool {
        guard isArmed else { return false }
        left -= 1
        return left == -1
    }
}
#endif
