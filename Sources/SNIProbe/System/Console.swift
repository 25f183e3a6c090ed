internal import DirectHTTP
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Standard output and error, as far as the command has to know them.
struct Console: Sendable {
    var isTerminal: Bool
    var errorsAreTerminal: Bool
    /// Whether ANSI colours may be used.
    var usesColor: Bool
    /// Whether characters beyond ASCII can be shown.
    var unicode: Bool
    var width = 80

    static func detect(_ choice: Options.ColorChoice) -> Console {
        let isTerminal = isatty(1) == 1
        let locale = variable("LC_ALL") ?? variable("LC_CTYPE") ?? variable("LANG") ?? ""
        let isUTF8 = locale.lowercased().contains("utf-8") || locale.lowercased().contains("utf8")
        return Console(
            isTerminal: isTerminal,
            errorsAreTerminal: isatty(2) == 1,
            usesColor: color(choice, isTerminal),
            unicode: isUTF8
        )
    }

    /// Takes the places of standard input, output and error where a caller has closed them, with something that refuses
    /// to be read or written: the next pipe or socket would get them otherwise, and results would go to a server.
    static func holdStandardDescriptors() {
        for (descriptor, direction) in [(0, O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)] as [(Int32, Int32)] {
            // From 0 on: `open` takes the lowest that is free, which is this one.
            if fcntl(descriptor, F_GETFD) == -1 { _ = open("/dev/null", direction) }
        }
    }

    /// `--color` beats NO_COLOR beats CLICOLOR_FORCE and FORCE_COLOR beats what the terminal is.
    private static func color(_ choice: Options.ColorChoice, _ isTerminal: Bool) -> Bool {
        switch choice {
        case .always: return true
        case .never: return false
        case .auto: break
        }
        if variable("NO_COLOR") != nil { return false }
        if [variable("CLICOLOR_FORCE"), variable("FORCE_COLOR")].contains(where: { $0 != nil && $0 != "0" }) {
            return true
        }
        return isTerminal && variable("TERM") != "dumb"
    }

    /// Empty counts as not set.
    private static func variable(_ name: String) -> String? {
        getenv(name).flatMap { $0.pointee == 0 ? nil : String(cString: $0) }
    }

    /// Writes all of it; says false when nobody reads any more.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var written = 0
        while written < bytes.count {
            let (count, code) = retryingInterrupts {
                bytes.withUnsafeBytes {
                    systemWrite(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
                }
            }
            if count < 0, code == EAGAIN {
                var list = [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)]
                _ = poll(&list, 1, -1)
                continue
            }
            guard count > 0 else {
                if descriptor == 1 { outputError.store(code, ordering: .relaxed) }
                return false
            }
            written += count
        }
        return true
    }

    /// Whether standard output has taken no more.
    static var hasLostOutput: Bool { outputError.load(ordering: .relaxed) != 0 }

    /// The exit code where standard output takes no more: as a shell shows a program that SIGPIPE ended, if nobody
    /// reads; a full disk is said.
    static func endOfOutput() -> Int32 {
        let code = outputError.load(ordering: .relaxed)
        guard code != EPIPE, code != 0 else { return 141 }
        let words = SystemError.text(of: code)
        let what = "cannot write the results: \(words.prefix(1).lowercased() + words.dropFirst())"
        complain(UsageError(what).text)
        return ExitCode.unwritable
    }

    static func complain(_ text: String) { _ = write(Array(text.utf8), to: 2) }

    private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
        Darwin.write(descriptor, bytes, count)
        #elseif canImport(Musl)
        Musl.write(descriptor, bytes, count)
        #else
        Glibc.write(descriptor, bytes, count)
        #endif
    }
}

/// Why standard output took no more.
private let outputError = Atomic<Int32>(0)
