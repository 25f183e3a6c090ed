internal import DirectCore
internal import DirectIO
private import Foundation
internal import Synchronization

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
    private let listener: Listener
    private let answer: Answer
    private let asked = Mutex<[Question]>([])

    /// Starts a server.
    package init(_ answer: @escaping Answer) throws {
        self.answer = answer
        (datagrams, listener) = try Self.pair()
        port = listener.port
        Thread.detachNewThread { [self] in serveDatagrams() }
        Thread.detachNewThread { [self] in serveStreams() }
    }

    /// The questions so far.
    package var questions: [Question] { asked.withLock { $0 } }

    /// Ends both threads.
    package func stop() {
        shutdown(datagrams, Int32(SHUT_RDWR))
        listener.stop()
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
        while let connection = try? listener.accept() {
            guard let head = try? connection.receive(exactly: 2), head.count == 2 else { continue }
            let length = Int(head[0]) << 8 | Int(head[1])
            guard let message = try? connection.receive(exactly: length), message.count == length else {
                continue
            }
            for reply in replies(to: message, isStream: true) {
                try? connection.send([UInt8(reply.count >> 8), UInt8(reply.count & 0xFF)] + reply)
            }
        }
    }

    private func replies(to message: [UInt8], isStream: Bool) -> [[UInt8]] {
        let question = asked.withLock { asked in
            asked.append(Question(message: message, isStream: isStream, number: asked.count))
            return asked[asked.count - 1]
        }
        return answer(question)
    }

    /// A UDP socket and a TCP listener at the same port. The port of one protocol may be in use in the other.
    private static func pair() throws -> (Int32, Listener) {
        #if canImport(Glibc)
        let kind = Int32(SOCK_DGRAM.rawValue)
        #else
        let kind = SOCK_DGRAM
        #endif
        while true {
            let listener = try Listener()
            let descriptor = socket(AF_INET, kind, 0)
            // Hundreds of questions may arrive while the thread is off the processor.
            var room: Int32 = 1 << 20
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
            let code = try listener.address.withSocketAddress(port: listener.port) {
                bind(descriptor, $0, $1)
            }
            if code == 0 { return (descriptor, listener) }
            close(descriptor)
        }
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
