#if os(Linux)
internal import CDirectLinux
internal import Glibc

/// A pipe of the kernel, through which bytes pass from one socket to another without being copied
/// (splice(2)). It belongs to one task at a time.
///
/// A peer that is gone raises SIGPIPE, which splice cannot be told to leave out: it is for threads that block
/// it, as those of event loops do.
package final class SplicePipe: @unchecked Sendable {
    private let reading, writing: Int32
    /// The number of bytes that are in it.
    package private(set) var count = 0

    /// Opens a pipe; `nil` if there is no descriptor for it but the last ones of the process.
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard direct_pipe(&ends) == 0 else { return nil }
        (reading, writing) = (ends[0], ends[1])
        if Descriptors.isInReserve(max(reading, writing)) { return nil }
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// Takes the available bytes of a socket into the empty pipe, without waiting.
    package func fill(from socket: Socket) -> Socket.Outcome {
        guard socket.input.isReady || socket.isHungUp else { return .wouldBlock }
        socket.input.clear()
        let (moved, code) = retryingInterrupts { direct_splice(socket.descriptor, writing, Self.most) }
        if moved > 0 {
            // Less than was asked for does not mean that there is no more: the pipe has room for so many
            // pieces.
            socket.input.signal()
            count += moved
            return .moved(moved)
        }
        if moved == 0 { return socket.endOfInput }
        return meansWouldBlock(code) ? .wouldBlock : .failed(code)
    }

    /// Passes bytes on to a socket, as many as there is room for, without waiting.
    package func drain(to socket: Socket) -> Socket.Outcome {
        guard socket.output.isReady else { return .wouldBlock }
        socket.output.clear()
        let (moved, code) = retryingInterrupts { direct_splice(reading, socket.descriptor, count) }
        if moved < 0, meansWouldBlock(code) { return .wouldBlock }
        // There may be room for more; and another attempt after a failure fails at once.
        socket.output.signal()
        if moved < 0 {
            socket.note(code)
            return .failed(code)
        }
        count -= moved
        return .moved(moved)
    }

    private static let most = 1 << 20
}
#endif
