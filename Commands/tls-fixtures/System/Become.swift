#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Becomes another program, searched in PATH, with the same descriptors and environment. Returns only if that
/// fails, the value of `errno`.
func become(_ program: String, _ arguments: [String]) -> Int32 {
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    execvp(program, &words)
    return errno
}
