internal import DirectCore
internal import Glibc

/// The bytes on their way in one direction of a connection.
struct Pipe {
    /// Bytes that have arrived and were not read yet.
    private var arrived: [UInt8] = []
    private var start = 0
    /// The bytes that were sent and not read yet.
    private(set) var outstanding = 0
    var capacity: Int
    /// Whether the sender has sent its FIN.
    var isFinished = false
    /// Whether the FIN has arrived.
    var hasEnded = false
    /// The number of segments that were sent.
    var segments = 0
    /// The arrival of the last segment so far. Segments arrive in order.
    var lastArrival: UInt64 = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    var available: Int { arrived.count - start }
    var room: Int { max(0, capacity - outstanding) }

    mutating func send(_ count: Int) { outstanding += count }

    mutating func arrive(_ bytes: ArraySlice<UInt8>) { arrived += bytes }

    /// The size of a piece that the plan wants to have `size` bytes. After some hundred segments pieces
    /// become larger: the rest of a long body in pieces of one byte would take most of a search's time and
    /// show nothing new.
    func grown(_ size: Int) -> Int {
        max(size, min(16384, size << min(14, max(0, segments - 512) / 64)))
    }

    /// Returns the next bytes; removes them unless `peeks`.
    mutating func take(_ count: Int, peeks: Bool = false) -> [UInt8] {
        let piece = Array(arrived[start..<start + count])
        guard !peeks else { return piece }
        start += count
        outstanding -= count
        if start == arrived.count {
            arrived.removeAll(keepingCapacity: true)
            start = 0
        }
        return piece
    }
}

/// A host of the world and one of its addresses.
struct Place: Equatable {
    let host: Int
    let address: Int
}

/// A socket of the client that its readiness queue can watch.
protocol Watched: AnyObject {
    /// The number in the trace.
    var number: Int { get }
    var isOpenForClient: Bool { get }
    /// What the queue reports for the descriptor; `nil` if it is not watched.
    var token: UnsafeMutableRawPointer? { get set }
    var isInQueue: Bool { get set }
    /// The events that epoll reports.
    var readiness: UInt32 { get }
}

/// A TCP connection between the client under test and a server of the world.
final class SimulatedConnection: Watched, @unchecked Sendable {
    /// Negative until a connection that others have made is accepted.
    var descriptor: Int32
    /// The number in the trace.
    let number: Int
    let kernel: Kernel
    /// The bytes to the server, and those to the client.
    var up: Pipe
    var down: Pipe
    /// The address and the port that the client has asked for.
    var address: IPAddress?
    var port = 0
    /// The address that the client has bound it to.
    var localAddress: IPAddress?
    /// The Unix domain socket that it is to, instead of an address.
    var path: String?
    /// Whether the client has not closed its descriptor yet.
    var isOpenForClient = true
    /// Whether the client has found less room than it needed, so that it is told of more.
    var lacksRoom = false
    /// Whether the server has shut down its sending, and drops what comes.
    var isLingering = false
    /// Whether the program wants its close to be a reset (SO_LINGER).
    var resetsOnClose = false
    /// Whether the other side reads what had arrived before a reset, as Linux lets it.
    var readsBeyondReset = false
    /// Whether the server has accepted the connection and not closed it yet.
    var isOpenForServer = false
    var isConnected = false
    /// Whether the client has closed it after its users had released it.
    var wasClosedAfterRelease = false
    /// The error that the client's next call reports.
    var pendingError: Int32 = 0
    /// The number of bytes that must have arrived before input is reported.
    var receiveMark = 1
    /// Whether the connection was reset.
    var isBroken = false
    /// When things happened.
    var times = Times()
    /// When its server could not see a request that comes: it read an upload that it had answered before, or
    /// had stopped in the middle of a response. The last one may not have ended.
    private(set) var absences: [Range<UInt64>] = []
    /// The number of bytes that the client has sent since the last request has arrived.
    var sentSinceRequest = 0
    /// The address of the server in the world; `nil` for the proxy's.
    var place: Place?
    /// Whether the server waits for a request, all earlier ones being answered.
    var isIdle = false
    /// Whether the server, or its machine, has stopped: it reads and writes nothing more.
    var isStopped = false
    /// Whether it was idle then.
    private(set) var wasIdleWhenStopped = false
    /// What is sent without end.
    private var flood: (piece: [UInt8], left: Int)?

    /// The times of a connection; `nil` for what has not happened.
    struct Times {
        var connect: UInt64 = 0
        var connected: UInt64?
        var firstRequest: UInt64?
        var lastRequest: UInt64?
        /// When a proxy had done its part: what follows is for the server behind it.
        var tunnel: UInt64?
        /// Since when the server waits for a request.
        var idle: UInt64 = 0
        var stopped: UInt64?
        /// The client's first bytes since the server has stopped.
        var sentAfterStop: UInt64?
        /// Since when bytes have waited for the client, which has read none meanwhile.
        var unread: UInt64?
        /// When the client closed it.
        var closed: UInt64?
        /// When the client could notice the end, and when the connection was reset.
        var ended: UInt64?
        var broken: UInt64?
    }

    /// What the client's readiness queue reports for the descriptor; `nil` if it is not watched.
    var token: UnsafeMutableRawPointer?
    var isInQueue = false
    /// The server's task that waits for bytes, for room, or for the end.
    private var waiter: UnsafeContinuation<Void, Never>?
    private var writer: UnsafeContinuation<Void, Never>?

    init(_ kernel: Kernel, descriptor: Int32, number: Int) {
        self.kernel = kernel
        self.descriptor = descriptor
        self.number = number
        up = Pipe(capacity: kernel.network.sendBuffer)
        down = Pipe(capacity: kernel.network.receiveBuffer)
    }

    subscript(isUp: Bool) -> Pipe {
        _read { if isUp { yield up } else { yield down } }
        _modify { if isUp { yield &up } else { yield &down } }
    }

    /// Whether reads end before what has arrived does: at the mark of urgent data, of which the readiness
    /// queue tells, and on a Unix domain socket at messages with descriptors, of which it does not.
    var hasMarks: Bool { path != nil || isUrgent }
    private var isUrgent: Bool { path == nil && number % 8 == 3 }

    /// Whether there is as much input as the client wants to be told of, and room (tcp_poll).
    var hasInput: Bool { down.available >= receiveMark || isUrgent }
    var hasRoom: Bool { up.isFinished || up.room * 3 >= up.capacity }

    /// The events that epoll reports, as Linux does.
    var readiness: UInt32 {
        var events: UInt32 = 0
        if down.available >= receiveMark || down.hasEnded || isBroken { events |= Events.readable }
        if isUrgent, down.available > 0 { events |= Events.urgent }
        if isConnected && hasRoom || isBroken { events |= Events.writable }
        if down.hasEnded || isBroken { events |= Events.peerHangUp }
        if isBroken || down.hasEnded && up.isFinished { events |= Events.hangUp }
        if isBroken { events |= Events.error }
        return events
    }

    /// Whether nothing is on its way in either direction, and the server waits for a request.
    var isAtRest: Bool {
        isIdle && isOpenForClient && isOpenForServer && !isBroken && down.outstanding == 0
            && up.outstanding == 0 && !down.isFinished && !up.isFinished
    }

    /// Sends the piece again and again, as fast as the client takes it, after what is still on its way.
    func send(endlessly piece: [UInt8], count: Int) {
        kernel.events.add(at: max(kernel.now, down.lastArrival) + 1) { [self] in
            flood = (piece, count)
            refill()
        }
    }

    /// Fills the pipe with the next bytes of a flood, whatever its capacity: a client must always find more.
    func refill() {
        guard let (piece, left) = flood, isOpenForServer, !isBroken else { return }
        var rest = left
        while rest > 0, down.outstanding < 300_000 {
            down.send(piece.count)
            down.arrive(piece[...])
            rest -= piece.count
        }
        flood = rest > 0 ? (piece, rest) : nil
        if rest < left {
            times.unread = times.unread ?? kernel.now
            kernel.report(self)
        }
        if rest <= 0 { kernel.after(nanoseconds: 1000) { [self] in kernel.serverCloses(self) } }
    }

    /// Notes since when the server sees no request, and until when.
    func beginAbsence() { absences.append(kernel.now..<UInt64.max) }
    func endAbsence() {
        guard let begin = absences.popLast()?.lowerBound else { return }
        absences.append(begin..<kernel.now)
    }

    /// Lets the server stop, from now on and for ever.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        wasIdleWhenStopped = isAtRest
        times.stopped = kernel.now
    }

    /// Resumes the server's tasks.
    func wakeServer() {
        if isStopped, isOpenForServer, !isBroken { return }
        let waiting = [waiter, writer]
        (waiter, writer) = (nil, nil)
        for continuation in waiting { continuation?.resume() }
    }

    /// Waits, as the server, until bytes or an end may have arrived.
    func waitForInput() async {
        await withUnsafeContinuation { waiter = $0 }
    }

    /// Waits, as the server, until there may be room.
    func waitForRoom() async {
        await withUnsafeContinuation { writer = $0 }
    }

    /// Breaks the connection for both sides.
    func reset() {
        guard !isBroken else { return }
        kernel.note("reset", place: number)
        (isBroken, times.broken) = (true, kernel.now)
        pendingError = down.hasEnded ? EPIPE : ECONNRESET
        kernel.report(self)
        wakeServer()
    }
}

/// The bits of epoll's events, which are not in Swift's Glibc module.
enum Events {
    static let readable: UInt32 = 1
    static let urgent: UInt32 = 2
    static let writable: UInt32 = 4
    static let error: UInt32 = 8
    static let hangUp: UInt32 = 0x10
    static let peerHangUp: UInt32 = 0x2000
}
