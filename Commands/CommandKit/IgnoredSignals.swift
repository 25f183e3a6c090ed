#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Whether the process was started to ignore the signal, as nohup(1) has it for SIGHUP. To be asked before
/// the signal has a handler.
package func isIgnoredSignal(_ number: Int32) -> Bool {
    let before = signal(number, SIG_IGN)
    if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { return true }
    signal(number, before)
    return false
}
