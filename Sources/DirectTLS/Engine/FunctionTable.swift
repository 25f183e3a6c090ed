internal import DirectCore

/// A table of functions for OpenSSL, created on first use and never freed.
///
/// If memory runs out there is no table, and the next use tries again: a failure must not be kept for good.
final class FunctionTable: @unchecked Sendable {
    private let make: @Sendable () -> OpaquePointer?
    private let table = Locked<OpaquePointer?>(nil)

    init(_ make: @escaping @Sendable () -> OpaquePointer?) {
        self.make = make
    }

    /// The table, or `nil` if there is no memory for it.
    var pointer: OpaquePointer? {
        table.withLock { table in
            if table == nil { table = make() }
            return table
        }
    }
}
