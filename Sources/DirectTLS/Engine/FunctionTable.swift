/// A table of functions for OpenSSL, created on first use and never freed.
///
/// If memory runs out there is no table, and the next use tries again: a failure must not be kept for good.
final class FunctionTable: @unchecked Sendable {
    private let lock = Lock()
    private let make: @Sendable () -> OpaquePointer?
    private var table: OpaquePointer?

    init(_ make: @escaping @Sendable () -> OpaquePointer?) {
        self.make = make
    }

    deinit {
        lock.destroy()
    }

    /// The table, or `nil` if there is no memory for it.
    var pointer: OpaquePointer? {
        lock.withLock {
            if table == nil { table = make() }
            return table
        }
    }
}
