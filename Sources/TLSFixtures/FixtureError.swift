#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Why a fixture could not be set up, or a wait for it ended without what was waited for.
@nonexhaustive
public enum FixtureError: Error, Equatable {
    /// The text is no IPv4 or IPv6 address.
    case notAnAddress(String)
    /// Fixtures listen on 127.0.0.0/8 and ::1 only.
    case notLoopback(String)
    /// A call to the operating system failed with this errno.
    case systemCallFailed(String, Int32)
    /// OpenSSL refused; its own words follow the operation's name.
    case openSSL(String, String)
    /// The file does not hold what was asked for.
    case badFile(path: String, why: String)
    /// The settings contradict each other.
    case badSettings(String)
    /// The awaited thing did not happen in time; the text says what the server has seen.
    case waitedTooLong(for: String, seen: String)
    /// The server was stopped while someone waited for it or it was working.
    case stopped
}

extension FixtureError: CustomStringConvertible {
    /// What went wrong, in words.
    public var description: String {
        switch self {
        case .notAnAddress(let text): "\"\(text)\" is not an IP address"
        case .notLoopback(let text): "fixtures listen on loopback only, not on \(text)"
        case .systemCallFailed(let call, let number): "\(call): \(String(cString: strerror(number)))"
        case .openSSL(let operation, let reason): "\(operation): \(reason)"
        case .badFile(let path, let why): "\(path): \(why)"
        case .badSettings(let why): why
        case .waitedTooLong(let awaited, let seen): "waited too long for \(awaited); seen: \(seen)"
        case .stopped: "the fixture server was stopped"
        }
    }
}
