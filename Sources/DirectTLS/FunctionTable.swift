/// A table of functions for OpenSSL, made when it is first needed and never freed.
///
/// Where memory runs out there is none, and the next call tries again: one that failed must not be kept for good.
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

    /// The table, or `nil` where there is no memory for it.
    var pointer: OpaquePointer? {
        lock.withLock {
            if table == nil { table = make() }
            return table
        }
    }
}
