internal import DirectCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A failed system call: its name, its `errno`, and the file it was called for, if any.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the C function.
    public let call: String
    /// The value of `errno`.
    public let code: Int32
    private let subject: Subject

    /// The subject of the call.
    private enum Subject: Hashable, Sendable {
        case file(path: String)
        /// The bytes of a connection.
        case transfer
        case other
    }

    /// Creates an error from the name of a C function and its `errno`.
    package init(_ call: String, code: Int32, path: String? = nil) {
        self.init(call, code: code, path.map { .file(path: $0) } ?? .other)
    }

    private init(_ call: String, code: Int32, _ subject: Subject) {
        self.call = call
        self.code = code
        self.subject = subject
    }

    /// The error of a connection from which no bytes can be received.
    package static func receiving(code: Int32) -> SystemError { SystemError("recv", code: code, .transfer) }

    /// The error of a connection on which no bytes can be sent.
    package static func sending(code: Int32) -> SystemError { SystemError("send", code: code, .transfer) }

    /// The path of the file to open, create or rename, or `nil` if the call did not concern one.
    public var path: String? { if case .file(let path) = subject { path } else { nil } }

    /// Whether bytes of a connection could not be received or sent.
    package var isOfTransfer: Bool { subject == .transfer }

    /// Whether there is no route to the address or to its whole family.
    package var meansNoRoute: Bool { code == ENETUNREACH || code == EHOSTUNREACH }

    /// Whether the host answered that no process listens on the port.
    package var meansRefused: Bool { code == ECONNREFUSED }

    /// Whether the peer has reset the connection.
    package var meansReset: Bool { code == ECONNRESET }

    /// The error of a blocking call for which there is no thread, because all of them hang.
    static let noThread = SystemError("pthread_create", code: EAGAIN)

    /// The error of a blocking call that was not waited for any longer, without a limit of the caller's.
    package static let silent = silent(at: nil)

    /// The same, of the file of this path.
    package static func silent(at path: String?) -> SystemError {
        SystemError("disk", code: ETIMEDOUT, path: path)
    }

    /// The error of a TCP connection attempt that has met itself: no process listens on the port.
    package static let connectedToItself = SystemError("connect", code: ECONNREFUSED)

    /// Whether a connection attempt failed before it left this machine, so that the error says nothing about
    /// the peer.
    package var isOfThisSide: Bool {
        ["socket", "bind", "setsockopt", "if_nametoindex"].contains(call)
            || call == "connect" && [EADDRNOTAVAIL, ENOBUFS, ENOMEM].contains(code)
    }

    /// Whether a server's queue of connections is full. Linux says so at once for a Unix domain socket, and
    /// queues no attempt (unix(7)).
    package var meansFullBacklog: Bool { code == EAGAIN }

    /// Whether the system has given up waiting for the peer.
    package var meansTimedOut: Bool { code == ETIMEDOUT }

    /// Whether the system refused to send for a reason of its own, so that the connection still exists and
    /// the peer does not know of it.
    package var leavesConnectionOpen: Bool {
        code == ENOBUFS || code == ENOMEM || code == EACCES || code == EPERM
    }

    /// Whether there is no file at the path.
    package var meansNoFile: Bool { code == ENOENT }

    /// The call, the path and the error as a short text.
    public var description: String {
        "\(call)\(path.map { " \(String(reflecting: $0))" } ?? ""): \(errnoText(code))"
    }
}

/// Whether a call on a non-blocking descriptor failed with this `errno` because it would have to wait.
@inline(__always)
func meansWouldBlock(_ code: Int32) -> Bool { code == EAGAIN || code == EWOULDBLOCK }

/// Repeats a system call as long as signals interrupt it. This is the only place that handles `EINTR`.
///
/// No other code may run between the call and the reading of `errno`.
@inline(__always)
package func retryingInterrupts<Count: FixedWidthInteger>(
    _ call: () -> Count
) -> (result: Count, code: Int32) {
    while true {
        let result = call()
        guard result == -1 else { return (result, 0) }
        let code = errno
        guard code == EINTR else { return (result, code) }
    }
}

/// Runs a system call as ``retryingInterrupts(_:)`` does, and throws ``SystemError`` if it fails.
@inline(__always)
package func checked<Count: FixedWidthInteger>(
    _ name: String,
    path: @autoclosure () -> String? = nil,
    call: () -> Count
) throws(SystemError) -> Count {
    let (result, code) = retryingInterrupts(call)
    guard result != -1 else { throw SystemError(name, code: code, path: path()) }
    return result
}
