import Foundation
import TLSFixtures

/// The bytes and the end that a plain socket received from a server.
struct RawOutcome: Sendable {
    enum End: Sendable, Equatable {
        /// The server sent FIN.
        case fin
        /// A call failed with this errno.
        case failed(Int32)
        /// Nothing came for the whole time.
        case silence
    }

    var bytes: [UInt8] = []
    var end = End.fin

    var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Connects, sends, and reads until the end, on a thread of its own.
func talk(
    to server: FixtureServer,
    sending text: String = "",
    closingAfter: Bool = false,
    waitingAtMost milliseconds: Int32 = 30_000
) async -> RawOutcome {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(returning: talkBlocking(server, Array(text.utf8), closingAfter, milliseconds))
        }
    }
}

private func talkBlocking(
    _ server: FixtureServer,
    _ bytes: [UInt8],
    _ closingAfter: Bool,
    _ milliseconds: Int32
) -> RawOutcome {
    var outcome = RawOutcome()
    let (descriptor, failure) = connectBlocking(server, milliseconds)
    guard let descriptor else {
        outcome.end = failure
        return outcome
    }
    defer { close(descriptor) }
    _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    if closingAfter { return outcome }
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&polled, 1, milliseconds) > 0 else {
            outcome.end = .silence
            return outcome
        }
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            outcome.end = count == 0 ? .fin : .failed(errno)
            return outcome
        }
        outcome.bytes += buffer[..<count]
    }
}

func connectBlocking(
    _ server: FixtureServer,
    _ milliseconds: Int32
) -> (descriptor: Int32?, failure: RawOutcome.End) {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(server.address, "\(server.port)", &hints, &list) == 0, let list else {
        return (nil, .failed(EINVAL))
    }
    defer { freeaddrinfo(list) }
    let descriptor = socket(list.pointee.ai_family, list.pointee.ai_socktype, 0)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var failure = RawOutcome.End.silence
    if connect(descriptor, list.pointee.ai_addr, list.pointee.ai_addrlen) != 0, errno == EINPROGRESS {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&polled, 1, milliseconds) > 0 else {
            close(descriptor)
            return (nil, failure)
        }
    }
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
    guard error == 0 else {
        close(descriptor)
        failure = .failed(error)
        return (nil, failure)
    }
    _ = fcntl(descriptor, F_SETFL, 0)
    return (descriptor, failure)
}
