#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Which thread this is. Unlike `pthread_self()`, no later thread is the same.
func threadNumber() -> String {
    #if canImport(Darwin)
    var number: UInt64 = 0
    pthread_threadid_np(nil, &number)
    return "\(number)"
    #else
    var link = [CChar](repeating: 0, count: 64)
    let count = readlink("/proc/thread-self", &link, link.count)
    return String(decoding: link.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    #endif
}
