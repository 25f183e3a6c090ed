#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// An error in setting up a fixture, or in waiting for an event on one.
@nonexhaustive
public enum FixtureError: Error, Equatable {
    /// The text is not an IPv4 or IPv6 address.
    case notAnAddress(String)
    /// The address is not in 127.0.0.0/8 and is not ::1. Fixtures listen on loopback only.
    case notLoopback(String)
    /// A system call failed with this errno.
    case systemCallFailed(String, Int32)
    /// An OpenSSL function failed. The first text names the operation, the second is OpenSSL's error text.
    case openSSL(String, String)
    /// The file could not be read or does not contain what was expected.
    case badFile(path: String, why: String)
    /// The settings contradict each other.
    case badSettings(String)
    /// The awaited event did not happen in time. `seen` summarizes what the server has recorded.
    case waitedTooLong(for: String, seen: String)
    /// The server was stopped during the wait or the operation.
    case stopped
}

extension FixtureError: CustomStringConvertible {
    /// The error as a short English text.
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
