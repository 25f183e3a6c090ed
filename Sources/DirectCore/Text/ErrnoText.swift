#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Returns the C library's text for an `errno`, such as "Connection refused".
package func errnoText(_ code: Int32) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer -> String in
        guard let base = buffer.baseAddress, unsafe strerror_r(code, base, buffer.count) == 0 else {
            return "error \(code)"
        }
        return unsafe String(cString: base)
    }
}
