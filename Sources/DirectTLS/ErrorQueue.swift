internal import CDirectOpenSSL

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// OpenSSL's list of errors, one for each thread.
///
/// An entry left behind by anyone makes the next healthy call on this thread look failed, and an entry
/// made on one thread is not seen on another: clear, call and drain belong in one function without `await`.
enum ErrorQueue {
    /// Looks first: `ERR_clear_error` alone wipes sixteen entries that are nearly always empty.
    @inline(__always)
    static func clear() {
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// The error that came first, which is the cause of the others; leaves the queue empty.
    static func drain() -> UInt {
        let first = ERR_peek_error()
        ERR_clear_error()
        return first
    }

    /// Whether one of the errors says that memory ran out; leaves the queue empty. It need not be the first: what fails
    /// for want of memory often has other words for it.
    static func drainSaysNoMemory() -> Bool {
        var saysNoMemory = false
        while case let code = ERR_get_error(), code != 0 {
            if direct_ERR_is_out_of_memory(code) == 1 { saysNoMemory = true }
        }
        return saysNoMemory
    }

    /// The words for the first error in the queue; leaves it empty.
    static func drainedReason() -> String {
        reason(of: drain())
    }

    static func reason(of code: UInt) -> String {
        if let words = ERR_reason_error_string(code) { return String(cString: words) }
        // A failed system call: the code is an errno, and OpenSSL keeps no words for those.
        guard code & systemErrorFlag != 0 else { return "unknown reason" }
        return systemWords(for: Int32(truncatingIfNeeded: code & ~systemErrorFlag))
    }

    private static let systemErrorFlag: UInt = 0x8000_0000
}

/// The C library's words for an `errno`, such as "Connection reset by peer".
func systemWords(for code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        guard let base = buffer.baseAddress, strerror_r(code, base, buffer.count) == 0 else {
            return "errno \(code)"
        }
        return String(cString: base)
    }
}
