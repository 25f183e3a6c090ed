#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import Synchronization

/// A DNS server on loopback, over UDP and TCP at the same port, whose answers a test writes byte by byte.
///
/// It has a thread of its own for each of the two, which end when the peer is stopped.
package final class DNSPeer: Sendable {
    /// A question that has arrived.
    package struct Question: Sendable {
        /// The message, without the length that precedes it over TCP.
        package let message: [UInt8]
        /// Whether it came over TCP.
        package let isStream: Bool
        /// The number of questions before it.
        package let number: Int

        /// Whether it asks for IPv6 addresses.
        package var isForIPv6: Bool { message[DNSPeer.endOfName(in: message) + 2] == 28 }

        /// A question that came in another way.
        package init(message: [UInt8], isStream: Bool = false, number: Int = 0) {
            (self.message, self.isStream, self.number) = (message, isStream, number)
        }
    }

    /// Returns the messages to send in reply, none for silence.
    package typealias Answer = @Sendable (Question) -> [[UInt8]]

    /// The port on 127.0.0.1.
    package let port: UInt16
    private let datagrams: Int32
    private let listener: Int32
    private let answer: Answer
    private let asked = Mutex<[Question]>([])

    /// Starts a server.
    package init(_ answer: @escaping Answer) throws {
        self.answer = answer
        var made: (Int32, Int32, UInt16)?
        // The port of one protocol may be in use in the other.
        for _ in 0..<50 where made == nil { made = Self.pair() }
        guard let made else { throw PeerFailure() }
        (datagrams, listener, port) = made
        Self.onThread { [self] in serveDatagrams() }
        Self.onThread { [self] in serveStreams() }
    }

    private struct PeerFailure: Error {}

    /// The questions so far.
    package var questions: [Question] { asked.withLock { $0 } }

    /// Ends both threads.
    package func stop() {
        shutdown(datagrams, Int32(SHUT_RDWR))
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serveDatagrams() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            var from = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutablePointer(to: &from) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(datagrams, &buffer, buffer.count, 0, $0, &length)
                }
            }
            guard count > 0 else { break }
            for reply in replies(to: Array(buffer[..<count]), isStream: false) {
                _ = withUnsafePointer(to: &from) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        sendto(datagrams, reply, reply.count, 0, $0, length)
                    }
                }
            }
        }
        close(datagrams)
    }

    private func serveStreams() {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { break }
            if let head = Self.read(2, from: connection),
                let message = Self.read(Int(head[0]) << 8 | Int(head[1]), from: connection)
            {
                for reply in replies(to: message, isStream: true) {
                    let framed = [UInt8(reply.count >> 8), UInt8(reply.count & 0xFF)] + reply
                    _ = send(connection, framed, framed.count, 0)
                }
            }
            close(connection)
        }
        close(listener)
    }

    private func replies(to message: [UInt8], isStream: Bool) -> [[UInt8]] {
        let question = asked.withLock { asked in
            asked.append(Question(message: message, isStream: isStream, number: asked.count))
            return asked[asked.count - 1]
        }
        return answer(question)
    }

    private static func read(_ count: Int, from connection: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var piece = [UInt8](repeating: 0, count: count - bytes.count)
            let received = recv(connection, &piece, piece.count, 0)
            guard received > 0 else { return nil }
            bytes += piece[..<received]
        }
        return bytes
    }

    /// A UDP socket and a TCP listener at the same port.
    private static func pair() -> (Int32, Int32, UInt16)? {
        #if canImport(Glibc)
        let (datagram, stream) = (Int32(SOCK_DGRAM.rawValue), Int32(SOCK_STREAM.rawValue))
        #else
        let (datagram, stream) = (SOCK_DGRAM, SOCK_STREAM)
        #endif
        guard let (first, port) = bound(datagram, port: 0) else { return nil }
        guard let (second, _) = bound(stream, port: port), listen(second, 16) == 0 else {
            close(first)
            return nil
        }
        return (first, second, port)
    }

    private static func bound(_ kind: Int32, port: UInt16) -> (Int32, UInt16)? {
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
            }
        }
        guard code == 0 else {
            close(descriptor)
            return nil
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    private static func onThread(_ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(body))
        #if canImport(Glibc)
        var thread = pthread_t()
        pthread_create(
            &thread,
            nil,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body()
                return nil
            },
            box.toOpaque()
        )
        pthread_detach(thread)
        #else
        var thread: pthread_t?
        pthread_create(
            &thread,
            nil,
            { pointer in
                Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body()
                return nil
            },
            box.toOpaque()
        )
        if let thread { pthread_detach(thread) }
        #endif
    }

    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

extension DNSPeer {
    /// The position of the byte that ends the name in a question.
    fileprivate static func endOfName(in message: [UInt8]) -> Int {
        message[12...].firstIndex(of: 0) ?? 12
    }

    /// Returns an answer with these addresses, for the type that was asked for.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - addresses: The data of the records, 4 or 16 bytes each; those of the other type are left out.
    ///   - code: The response code.
    ///   - isTruncated: Whether the answer is marked as truncated.
    package static func reply(
        to question: Question,
        _ addresses: [[UInt8]],
        code: UInt8 = 0,
        isTruncated: Bool = false
    ) -> [UInt8] {
        let message = question.message
        let end = endOfName(in: message) + 5
        let type = message[end - 3]
        let wanted = addresses.filter { $0.count == (type == 28 ? 16 : 4) }
        var reply =
            Array(message[0..<2]) + [
                isTruncated ? 0x83 : 0x81, 0x80 | code, 0, 1, 0, UInt8(wanted.count), 0, 0, 0, 0,
            ]
        reply += message[12..<end]
        for address in wanted {
            reply += [0xC0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, UInt8(address.count)] + address
        }
        return reply
    }
}
