#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
@preconcurrency internal import Musl
#else
@preconcurrency internal import Glibc
#endif

/// The environment of this process, which nothing changes.
enum Environment {
    /// The variables, each as `NAME=VALUE`.
    static let texts: [String] = {
        #if canImport(Darwin)
        let first = _NSGetEnviron().pointee
        #else
        let first: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = environ
        #endif
        guard var next = first else { return [] }
        var texts: [String] = []
        while let text = next.pointee {
            texts.append(String(cString: text))
            next += 1
        }
        return texts
    }()
}
