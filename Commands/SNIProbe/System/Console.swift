internal import CommandKit
internal import DirectCore
internal import DirectHTTP
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The values of `--color`.
enum ColorChoice: String, Sendable {
    case auto, always, never
}

/// The properties of standard output and standard error, and writing to them.
struct Console: Sendable {
    var isTerminal: Bool
    var errorsAreTerminal: Bool
    /// Whether ANSI colours may be used.
    var usesColor: Bool
    /// Whether characters beyond ASCII can be shown.
    var unicode: Bool
    var width = 80

    /// Detects the properties from the terminal and the environment.
    static func detect(_ choice: ColorChoice) -> Console {
        let isTerminal = isatty(1) == 1
        let locale = variable("LC_ALL") ?? variable("LC_CTYPE") ?? variable("LANG") ?? ""
        let isUTF8 = locale.lowercased().contains("utf-8") || locale.lowercased().contains("utf8")
        return Console(
            isTerminal: isTerminal,
            errorsAreTerminal: isatty(2) == 1,
            usesColor: color(choice, isTerminal: isTerminal),
            unicode: isUTF8,
            width: isTerminal ? windowWidth ?? 80 : 80
        )
    }

    /// The number of columns of the terminal; `nil` if it does not tell.
    private static var windowWidth: Int? {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return min(max(Int(size.ws_col), 40), 400)
    }

    /// Whether colours are used. `--color` comes before NO_COLOR, then CLICOLOR_FORCE and FORCE_COLOR, then
    /// the terminal.
    private static func color(_ choice: ColorChoice, isTerminal: Bool) -> Bool {
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

    /// Returns an environment variable, or `nil` if it is not set or empty.
    static func variable(_ name: String) -> String? {
        getenv(name).flatMap { $0.pointee == 0 ? nil : String(cString: $0) }
    }

    /// The name of this machine.
    static var hostName: String? {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, 255) == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            .lowercased()
    }

    /// Writes all bytes. Returns `false` if the descriptor accepts no more, for example because the reader
    /// closed the pipe.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        let code = writeAll(bytes, to: descriptor)
        // Everything but complaints is a result.
        if code != 0, descriptor != 2 { outputError.store(code, ordering: .relaxed) }
        return code == 0
    }

    /// Whether writing results has failed.
    static var hasLostOutput: Bool { outputError.load(ordering: .relaxed) != 0 }

    /// Returns the exit code after writing results failed. If the reader closed the pipe, it is the one
    /// that a shell reports for SIGPIPE. Other errors, such as a full disk, are printed.
    static func endOfOutput() -> Int32 {
        let code = outputError.load(ordering: .relaxed)
        guard code != EPIPE, code != 0 else { return 141 }
        complain(UsageError("cannot write the results: \(Words.system(code))").text)
        return ExitCode.unwritable
    }

    /// Writes to standard error.
    static func complain(_ text: String) { _ = write(Array(text.utf8), to: 2) }
}

/// The `errno` of the last failed write to standard output, or 0.
private let outputError = Atomic<Int32>(0)
