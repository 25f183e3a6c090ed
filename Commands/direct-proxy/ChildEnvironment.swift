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
    ///
    /// The others stay as they are, byte by byte: values need not be text.
    static func variables(_ url: String) -> [[UInt8]] {
        var result: [[UInt8]] = []
        var next = environ
        while let text = next.pointee {
            let variable = bytes(of: text)
            let name = String(decoding: variable.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
            if !names.contains(name), name.lowercased() != "no_proxy" { result.append(variable) }
            next += 1
        }
        let own = names.map { "\($0)=\(url)" } + ["no_proxy=", "NO_PROXY="]
        return result + own.map { Array($0.utf8) }
    }

    /// The words of this process's command line, without its name.
    static var words: [[UInt8]] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { CommandLine.unsafeArgv[$0].map { bytes(of: $0) } }
    }

    private static func bytes(of text: UnsafePointer<CChar>) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }
}
