#if canImport(Musl)
internal import Musl
#elseif canImport(Glibc)
internal import Glibc
#endif

/// The system's random numbers; on Linux from the C library's `getentropy`.
///
/// Swift's own generator asks the kernel directly. A simulation, which runs on Linux, replaces functions of
/// the C library, so that a run can be repeated exactly, and cannot replace system calls.
package struct SystemRandom: RandomNumberGenerator {
    private var system = SystemRandomNumberGenerator()

    package init() {}

    package mutating func next() -> UInt64 {
        #if canImport(Darwin)
        return system.next()
        #else
        var word: UInt64 = 0
        // Fails only for more than 256 bytes, or on kernels before 3.17.
        guard unsafe getentropy(&word, 8) == 0 else { return system.next() }
        return word
        #endif
    }

    /// Returns 64 random bits.
    package static func word() -> UInt64 {
        var random = SystemRandom()
        return random.next()
    }
}
