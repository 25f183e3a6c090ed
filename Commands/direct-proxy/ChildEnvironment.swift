internal import DirectProxy

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The environment of a program that is to use the proxy.
enum ChildEnvironment {
    /// The variables that name proxies, in the cases that programs read.
    private static let names = [
        "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
    ]

    /// The variables of this process with the proxy in them. Those that name exceptions are left out: a
    /// program would go round the proxy for hosts that the map names.
    static func variables(_ url: String) -> [String] {
        var result: [String] = []
        var next = environ
        while let text = next.pointee {
            let variable = String(cString: text)
            let name = variable.prefix { $0 != "=" }
            if !names.contains(String(name)), name.lowercased() != "no_proxy" { result.append(variable) }
            next += 1
        }
        return result + names.map { "\($0)=\(url)" } + ["no_proxy=", "NO_PROXY="]
    }
}
