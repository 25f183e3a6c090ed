internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// The HTTP server of `--listen`: one request a connection.
///
/// Clients cost little: a head has 8 KiB and 5 seconds at most, an answer 30 seconds. If there are too many
/// connections, the oldest of those that have not sent a whole request gives way.
final class Responder: Sendable {
    private let listener: ListeningSocket
    private let names: Set<String>
    private let service: ProbeService
    private let clients = Locked<[Int: Client]>([:])

    private struct Client {
        let task: Task<Void, Never>
        /// Whether its request has not arrived as a whole.
        var isReading = true
    }

    /// The most connections at the same time.
    static let mostConnections = 128

    /// Listens on a loop of its own, which no handshake occupies. Without a port the system chooses one.
    static func listener(at place: Endpoint) throws(UsageError) -> ListeningSocket {
        do throws(Socket.StartFailure) {
            return try ListeningSocket(at: place, on: EventLoop())
        } catch {
            let why =
                switch error {
                case .address(let error): "\(error)"
                case .system(let error): Words.system(error.code)
                }
            throw UsageError("--listen \(place): \(why)", code: ExitCode.unwritable)
        }
    }

    init(at listener: ListeningSocket, names: Set<String>, service: ProbeService) {
        (self.listener, self.names, self.service) = (listener, names, service)
    }

    /// Serves until a signal comes, which rings the alarm.
    func run(until alarm: Alarm) {
        Task(executorPreference: listener.loop) { await self.accept() }
        while !Interrupts.hasCome { _ = alarm.sleep(orInputAt: nil, limit: nil) }
    }

    private func accept() async {
        let loop = listener.loop
        var number = 0
        while true {
            do throws(SystemError) {
                guard let socket = try listener.accept() else {
                    _ = await listener.input.wait(until: .never, on: loop)
                    continue
                }
                number += 1
                while !takes(socket, number) { await pause() }
            } catch {
                // Without a free descriptor, the connection would be reported again at once.
                await pause()
            }
        }
    }

    private func pause() async { try? await listener.loop.sleep(until: moment(in: 0.1)) }

    private func moment(in seconds: Double) -> Instant {
        listener.loop.now.advanced(byNanoseconds: UInt64(seconds * 1_000_000_000))
    }

    /// Takes a connection, if need be in place of the oldest without a whole request. Returns `false` if each
    /// of too many has one.
    private func takes(_ socket: Socket, _ number: Int) -> Bool {
        clients.withLock { clients in
            if clients.count >= Self.mostConnections {
                guard let oldest = clients.filter(\.value.isReading).keys.min() else { return false }
                clients.removeValue(forKey: oldest)?.task.cancel()
            }
            let task = Task(executorPreference: listener.loop) { await self.serve(socket, number) }
            clients[number] = Client(task: task)
            return true
        }
    }

    private func serve(_ socket: Socket, _ number: Int) async {
        // It has room, of which the loop need not tell first.
        socket.output.signal()
        do throws(HandshakeFailure) {
            let head = try await head(of: socket)
            clients.withLock { $0[number]?.isReading = false }
            let bytes = await answer(to: head)
            try await Preamble(socket: socket, end: moment(in: 30)).send(bytes)
            socket.finishSending()
            // What the client still sends is read until it closes: closing before would make the system reset
            // the connection, and the client could lose the answer (RFC 9112, section 9.6).
            let rest = Preamble(socket: socket, end: moment(in: 1))
            while try await rest.receive(upTo: 4096, until: rest.end) != nil {}
        } catch {}
        socket.close()
        clients.withLock { $0[number] = nil }
    }

    /// The head of a request, or the answer to one that does not come in time, or is too long.
    private func head(of socket: Socket) async throws(HandshakeFailure)
        -> Result<ArraySlice<UInt8>, ServedReply>
    {
        let reading = Preamble(socket: socket, end: moment(in: 5))
        var bytes: [UInt8] = []
        while bytes.count <= ServedRequest.mostBytes {
            guard let more = try await reading.receive(upTo: 4096, until: reading.end) else {
                return .failure(ServedReply(408, "the request took too long"))
            }
            let from = max(0, bytes.count - 3)
            bytes += more
            let end = (from..<max(from, bytes.count - 3)).first {
                bytes[$0...].starts(with: [13, 10, 13, 10])
            }
            if let end, end <= ServedRequest.mostBytes { return .success(bytes[..<end]) }
        }
        return .failure(ServedReply(431, "the head is too large"))
    }

    private func answer(to head: Result<ArraySlice<UInt8>, ServedReply>) async -> [UInt8] {
        var isHead = false
        let reply: ServedReply
        do throws(ServedReply) {
            let request = try ServedRequest(head: try head.get(), names: names)
            isHead = request.isHead
            reply = try await service.answer(request, on: listener.loop)
        } catch {
            reply = error
        }
        service.count(reply)
        return reply.bytes(isHead: isHead)
    }
}
