#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The system's random numbers, from the C library's `getentropy`.
///
/// Swift's own generator asks the kernel directly. A simulation replaces functions of the C library, so that a run can
/// be repeated exactly, and cannot replace system calls.
package struct SystemRandom: RandomNumberGenerator {
    package init() {}

    package mutating func next() -> UInt64 {
        var word: UInt64 = 0
        // Fails only for more than 256 bytes, or on kernels before 3.17.
        guard unsafe getentropy(&word, 8) == 0 else { return UInt64.random(in: .min ... .max) }
        return word
    }

    /// Returns 64 random bits.
    package static func word() -> UInt64 {
        var random = SystemRandom()
        return random.next()
    }
}
