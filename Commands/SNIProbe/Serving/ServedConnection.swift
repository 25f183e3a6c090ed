internal import DirectCore
internal import DirectIO

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// One connection of the responder.
final class ServedConnection {
    enum Phase {
        /// The head has not arrived as a whole.
        case reading
        /// The answer is being made.
        case waiting
        case writing
        /// The answer is sent. What the client still sends is read until it closes: closing before would make
        /// the system reset the connection, and the client could lose the answer (RFC 9112, section 9.6).
        case ending
    }

    let descriptor: Int32
    private(set) var phase = Phase.reading
    /// When the client is too slow.
    private(set) var deadline: Instant
    private(set) var isOver = false
    /// Whether the answer has no content.
    var isHead = false
    /// What was received, later what is to be sent.
    private var bytes: [UInt8] = []
    private var sent = 0

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        deadline = Self.moment(in: 5)
    }

    deinit { close(descriptor) }

    private static func moment(in seconds: UInt64) -> Instant {
        .now.advanced(byNanoseconds: seconds * 1_000_000_000)
    }

    /// What `poll` is to wait for.
    var events: Int16 {
        switch phase {
        case .reading, .ending: Int16(POLLIN)
        case .waiting: 0
        case .writing: Int16(POLLOUT)
        }
    }

    /// Goes on after `poll` has reported something. Returns the head of a request once it is complete.
    func advance() -> ArraySlice<UInt8>? {
        switch phase {
        case .reading: return read()
        case .waiting: isOver = true  // The client has hung up.
        case .writing: write()
        case .ending: if receive()?.isEmpty != false { isOver = true }
        }
        return nil
    }

    /// Begins to send the answer.
    func answer(_ reply: ServedReply) {
        guard phase == .reading || phase == .waiting else { return }
        (phase, deadline) = (.writing, Self.moment(in: 30))
        (bytes, sent) = (reply.bytes(isHead: isHead), 0)
        write()
    }

    /// Takes notice that the deadline has passed.
    func expire() {
        if phase == .reading { answer(ServedReply(408, "the request took too long")) } else { isOver = true }
    }

    private func read() -> ArraySlice<UInt8>? {
        guard let more = receive() else { return nil }
        guard !more.isEmpty else {
            isOver = true
            return nil
        }
        let from = max(0, bytes.count - 3)
        bytes += more
        let end = (from..<max(from, bytes.count - 3)).first { bytes[$0...].starts(with: [13, 10, 13, 10]) }
        guard let end, end <= ServedRequest.mostBytes else {
            if bytes.count > ServedRequest.mostBytes { answer(ServedReply(431, "the head is too large")) }
            return nil
        }
        (phase, deadline) = (.waiting, .never)
        return bytes[..<end]
    }

    /// Receives what is there: `nil` if nothing is, empty at the end or after an error.
    private func receive() -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: 4096)
        let (count, code) = retryingInterrupts { recv(descriptor, &piece, piece.count, 0) }
        if count < 0, code == EAGAIN { return nil }
        return Array(piece.prefix(max(0, count)))
    }

    private func write() {
        let (count, code) = bytes.withUnsafeBytes { bytes in
            retryingInterrupts {
                send(descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Self.flags)
            }
        }
        guard count >= 0 else {
            if code != EAGAIN { isOver = true }
            return
        }
        sent += count
        guard sent == bytes.count else { return }
        (phase, deadline) = (.ending, Self.moment(in: 1))
        shutdown(descriptor, Int32(SHUT_WR))
    }

    #if canImport(Darwin)
    private static let flags: Int32 = 0
    #else
    private static let flags = Int32(truncatingIfNeeded: MSG_NOSIGNAL)
    #endif
}
