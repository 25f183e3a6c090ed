internal import CDirectOpenSSL
internal import DirectCore

/// OpenSSL's error queue, of which each thread has its own.
///
/// An entry that any code leaves behind makes the next successful call on this thread look failed, and an
/// entry made on one thread is not visible on another. So clearing, calling and draining belong in one
/// function without `await`.
enum ErrorQueue {
    /// Clears the queue, before OpenSSL is used. Checks first: `ERR_clear_error` alone wipes sixteen entries
    /// that are nearly always empty.
    @inline(__always)
    static func clear() {
        OpenSSLLibrary.use()
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// Calls a function that may use OpenSSL for itself within a call of OpenSSL, as the outer layer of TLS
    /// in TLS does when the inner one sends its alert. The errors of the call that goes on are kept.
    static func keepingErrors<Value>(_ body: () -> Value) -> Value {
        guard ERR_peek_error() != 0 else { return body() }
        var codes: [UInt] = []
        while case let code = ERR_get_error(), code != 0 { codes.append(code) }
        defer {
            ERR_clear_error()
            codes.forEach(direct_ERR_put)
        }
        return body()
    }

    /// Returns the first error, which is the cause of the others, and clears the queue.
    static func drain() -> UInt {
        let first = ERR_peek_error()
        ERR_clear_error()
        return first
    }

    /// Returns whether one of the errors says that memory ran out, and clears the queue. It need not be the
    /// first one: calls that fail for lack of memory often report another error.
    static func drainSaysNoMemory() -> Bool {
        var saysNoMemory = false
        while case let code = ERR_get_error(), code != 0 {
            if direct_ERR_is_out_of_memory(code) == 1 { saysNoMemory = true }
        }
        return saysNoMemory
    }

    /// Returns the text of the first error, and clears the queue.
    @inline(never)
    static func drainedReason() -> String {
        reason(of: drain())
    }

    /// Returns OpenSSL's text for an error code, or the C library's if the code is an `errno`.
    static func reason(of code: UInt) -> String {
        if let words = ERR_reason_error_string(code) { return String(cString: words) }
        // A failed system call: the code is an errno, for which OpenSSL has no text.
        guard code & systemErrorFlag != 0 else { return "unknown reason" }
        return errnoText(Int32(truncatingIfNeeded: code & ~systemErrorFlag))
    }

    /// Returns the code of a failed system call with this `errno`.
    static func code(of errno: Int32) -> UInt { systemErrorFlag | UInt(errno) }

    private static let systemErrorFlag: UInt = 0x8000_0000
}
