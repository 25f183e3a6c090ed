#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A system call that failed: which one, with what `errno`, and on which file if it was on one.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the C function.
    public let call: String
    /// The value of `errno` after it.
    public let code: Int32
    /// The path of the file that was to be opened, made or moved.
    public let path: String?

    package init(_ call: String, code: Int32, path: String? = nil) {
        self.call = call
        self.code = code
        self.path = path
    }

    /// Whether there is no way to an address, or to no address of its family.
    package var meansNoRoute: Bool { code == ENETUNREACH || code == EHOSTUNREACH }

    public var description: String {
        "\(call)\(path.map { " \(String(reflecting: $0))" } ?? ""): \(Self.text(of: code))"
    }

    /// The C library's words for an `errno`, such as "Connection refused".
    package static func text(of code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer -> String in
            guard let base = buffer.baseAddress else { return "error \(code)" }
            guard strerror_r(code, base, buffer.count) == 0 else { return "error \(code)" }
            return String(cString: base)
        }
    }
}

/// Runs a system call again for as long as a signal interrupts it: the one place that knows `EINTR`.
///
/// Nothing may run between the call and the reading of `errno`.
@inline(__always)
package func retryingInterrupts<Count: FixedWidthInteger>(
    _ call: () -> Count
) -> (result: Count, code: Int32) {
    while true {
        let result = call()
        guard result == -1 else { return (result, 0) }
        let code = errno
        guard code == EINTR else { return (result, code) }
    }
}

/// The same, for calls whose failure is an error of ours.
@inline(__always)
package func checked<Count: FixedWidthInteger>(
    _ name: String,
    path: @autoclosure () -> String? = nil,
    _ call: () -> Count
) throws(SystemError) -> Count {
    let (result, code) = retryingInterrupts(call)
    guard result != -1 else { throw SystemError(name, code: code, path: path()) }
    return result
}
