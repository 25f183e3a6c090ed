internal import DirectCore
internal import DirectHTTP
internal import DirectIO

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The HTTP server of `--listen`: one request a connection, all of them on the thread that runs it.
///
/// Clients cost little: a head has 8 KiB and 5 seconds at most, an answer 30 seconds. If there are too many
/// connections, the oldest of those that have not sent a whole request gives way.
final class Responder {
    private let listener: Int32
    private let names: Set<String>
    private let service: ProbeService
    private let mailbox: Mailbox<(connection: Int, reply: ServedReply)>
    private var connections: [Int: ServedConnection] = [:]
    private var nextNumber = 0
    /// When connections are accepted again, after the system has refused one.
    private var acceptsFrom = Instant(nanoseconds: 0)

    /// The most connections at the same time.
    static let mostConnections = 128

    init(_ listener: Int32, names: Set<String>, _ service: ProbeService, _ alarm: Alarm) {
        (self.listener, self.names, self.service) = (listener, names, service)
        mailbox = Mailbox(alarm)
    }

    /// Serves until a signal comes.
    func run() {
        while !Interrupts.hasCome {
            for (number, reply) in mailbox.takeAll() { connections[number]?.answer(reply) }
            let accepts = connections.count < Self.mostConnections && Instant.now >= acceptsFrom
            let ready = sleep(listening: accepts || makesRoom)
            if ready.contains(listener) { accept() }
            for (number, connection) in connections {
                if ready.contains(connection.descriptor) { advance(connection, number: number) }
                if connection.deadline <= .now { connection.expire() }
                if connection.isOver { connections[number] = nil }
            }
        }
        close(listener)
    }

    /// Whether a connection can give way to another one.
    private var makesRoom: Bool {
        Instant.now >= acceptsFrom && connections.values.contains { $0.phase == .reading }
    }

    /// Sleeps until something happens, and returns the descriptors that are ready.
    private func sleep(listening: Bool) -> Set<Int32> {
        let wanted = connections.values.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
        var list = [pollfd(fd: mailbox.alarm.reading, events: Int16(POLLIN), revents: 0)] + wanted
        if listening { list.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0)) }
        var wake = connections.values.map(\.deadline).min() ?? .never
        if !listening { wake = min(wake, max(acceptsFrom, Instant.now.advanced(byNanoseconds: 100_000_000))) }
        let rest = wake.since(.now).clampedNanoseconds / 1_000_000 + 1
        guard poll(&list, nfds_t(list.count), wake == .never ? -1 : Int32(clamping: rest)) > 0 else {
            return []
        }
        if list[0].revents != 0 { mailbox.alarm.silence() }
        return Set(list.dropFirst().lazy.filter { $0.revents != 0 }.map(\.fd))
    }

    private func accept() {
        let (descriptor, code) = retryingInterrupts { acceptOne(listener) }
        guard descriptor >= 0 else {
            // Without a free descriptor, `poll` would report the connection again at once.
            if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) {
                acceptsFrom = Instant.now.advanced(byNanoseconds: 100_000_000)
            }
            return
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        if connections.count >= Self.mostConnections,
            let oldest = connections.filter({ $0.value.phase == .reading }).keys.min()
        {
            connections[oldest] = nil
        }
        connections[nextNumber] = ServedConnection(descriptor)
        nextNumber += 1
    }

    private func advance(_ connection: ServedConnection, number: Int) {
        let names = names
        guard let head = connection.advance() else { return }
        do throws(ServedReply) {
            let request = try ServedRequest(head: head, names: names)
            connection.isHead = request.isHead
            let (service, mailbox) = (service, mailbox)
            service.answer(request) { reply in
                service.count(reply)
                mailbox.put((number, reply))
            }
        } catch {
            service.count(error)
            connection.answer(error)
        }
    }
}

/// Calls C's `accept`, which the method hides.
nonisolated private func acceptOne(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }
