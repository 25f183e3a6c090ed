internal import CDirectOpenSSL
internal import DirectCore

/// The state of the BIO that connects OpenSSL to the transport.
///
/// OpenSSL's own socket BIO is not used: it sends with `write(2)`, and a dead peer would then kill the host
/// process with SIGPIPE.
struct TransportState {
    /// Kept alive by the layer. A strong reference would be counted for every record.
    private unowned(unsafe) let transport: any TLSTransport
    /// Whether the transport is a layer of TLS, which uses this thread's error queue as well.
    private let isTLS: Bool
    /// The transport's last answer within this call if it moved nothing; `nil` if it has moved all that was
    /// asked. Only then is there anything to wait for: OpenSSL also asks for input
    /// after it has used some that yielded no data.
    ///
    /// It says nothing about the next call: after a send that failed, what has arrived can still be read.
    private(set) var stop: TLSStep?
    /// The number of times that OpenSSL may still read the transport within this call.
    var readsLeft = Int32.max
    /// Whether bytes that the transport has no room for are kept here, and count as sent for OpenSSL.
    ///
    /// Otherwise a connection that is open would stand still: OpenSSL returns no data that has arrived while
    /// new keys, which the peer has asked for, have no room; and if it is asked for them twice while a record
    /// is half sent, it fails with "bad length" (3.0.19).
    var keepsUnsent = false
    /// Whether `unsent` has bytes. Stored separately because every request reads it.
    private(set) var holdsUnsent = false
    private var unsent: [UInt8] = []
    /// More than a record and new keys, so that no call that writes data meets the limit.
    private static let mostUnsent = 32768
    /// The number of handshake messages received since the last application data.
    var messages: Int32 = 0

    /// Whether a message with too many certificates has been refused.
    var hasTooManyCertificates = false

    /// The largest number of messages without data, in a handshake (which has six) and after it (session
    /// tickets and key updates). Go has the same limit. OpenSSL has none, and a peer that only sends key
    /// updates would keep it busy forever.
    static let mostMessages: Int32 = 16

    init(transport: any TLSTransport) {
        self.transport = transport
        isTLS = transport is TLSLayer
    }

    /// Reads at least one byte, or returns `nil` and notes the stop.
    fileprivate mutating func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int? {
        // Within one call, OpenSSL would continue for as long as the peer sends.
        guard !hasTooManyMessages, readsLeft > 0 else { return note(.again) }
        readsLeft &-= 1
        guard isTLS else { return note(transport.receive(into: buffer)) }
        return note(ErrorQueue.keepingErrors { transport.receive(into: buffer) })
    }

    /// Writes bytes behind those that are kept, and keeps them if there is no room. Returns `nil` and notes
    /// the stop if it can do neither.
    fileprivate mutating func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var step = holdsUnsent ? flush() : .moved(1)
        if case .moved = step { step = sendNow(bytes) }
        return note(keep(bytes, after: step))
    }

    private mutating func note(_ step: TLSStep) -> Int? {
        if case .moved(let count) = step { return count }
        stop = step
        return nil
    }

    /// Sends bytes. A transport that has taken none has no room.
    private func sendNow(_ bytes: UnsafeRawBufferPointer) -> TLSStep {
        let step = isTLS ? ErrorQueue.keepingErrors { transport.send(bytes) } : transport.send(bytes)
        if case .moved(0) = step { return .wantsWrite }
        return step
    }

    private mutating func keep(_ bytes: UnsafeRawBufferPointer, after step: TLSStep) -> TLSStep {
        switch step {
        case .again, .wantsRead, .wantsWrite:
            guard keepsUnsent, unsent.count + bytes.count <= Self.mostUnsent else { return step }
            unsent.append(contentsOf: bytes)
            holdsUnsent = true
            return .moved(bytes.count)
        case .moved, .ended, .failed, .wantsVerdict: return step
        }
    }

    /// Sends the bytes that are kept. `.moved` means that none are left.
    mutating func flush() -> TLSStep {
        while holdsUnsent {
            let step = unsent.withUnsafeBytes { sendNow($0) }
            guard case .moved(let sent) = step else { return step }
            unsent.removeFirst(min(sent, unsent.count))
            holdsUnsent = !unsent.isEmpty
        }
        unsent = []
        return .moved(0)
    }

    /// Begins an OpenSSL call.
    mutating func begin() {
        stop = nil
    }

    /// Begins an OpenSSL call that reads at most 16 buffers of 16 KiB, however fast the peer sends.
    mutating func beginReading() {
        readsLeft = 16
        stop = nil
    }

    /// Lets calls that write read as much as they need: at most one message.
    mutating func endReading() {
        readsLeft = .max
    }

    var hasTooManyMessages: Bool { messages > Self.mostMessages }
}

/// Creates a BIO that moves bytes through `state`, which must outlive it. The caller owns the BIO.
func makeTransportBIO(_ state: UnsafeMutablePointer<TransportState>) -> OpaquePointer? {
    guard let method = transportMethod.pointer, let bio = BIO_new(method) else { return nil }
    BIO_set_data(bio, state)
    BIO_set_init(bio, 1)
    return bio
}

/// The functions of all our BIOs.
private let transportMethod = FunctionTable {
    // OpenSSL returns -1 forever once memory has run out. The number only serves to search chains for a BIO.
    let index = max(0, BIO_get_new_index())
    guard let table = BIO_meth_new(index | BIO_TYPE_SOURCE_SINK, "direct transport") else { return nil }
    BIO_meth_set_read_ex(table, readFromTransport)
    BIO_meth_set_write_ex(table, writeToTransport)
    BIO_meth_set_ctrl(table, answerControl)
    return table
}

/// Computed, not stored: a lazy global would be checked on every record.
private var retryFlags: Int32 {
    BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY
}

private func readFromTransport(
    _ bio: OpaquePointer?,
    buffer: UnsafeMutablePointer<CChar>?,
    count: Int,
    moved: UnsafeMutablePointer<Int>?
) -> Int32 {
    guard let state = transportState(of: bio), let buffer, let moved else { return 0 }
    BIO_clear_flags(bio, retryFlags)
    if let count = state.pointee.read(UnsafeMutableRawBufferPointer(start: buffer, count: count)) {
        moved.pointee = count
        return 1
    }
    setRetry(bio, after: state.pointee.stop, own: BIO_FLAGS_READ)
    return -1
}

private func writeToTransport(
    _ bio: OpaquePointer?,
    buffer: UnsafePointer<CChar>?,
    count: Int,
    moved: UnsafeMutablePointer<Int>?
) -> Int32 {
    guard let state = transportState(of: bio), let buffer, let moved else { return 0 }
    BIO_clear_flags(bio, retryFlags)
    if let count = state.pointee.write(UnsafeRawBufferPointer(start: buffer, count: count)) {
        moved.pointee = count
        return 1
    }
    setRetry(bio, after: state.pointee.stop, own: BIO_FLAGS_WRITE)
    return -1
}

/// OpenSSL is always told to try again, also after the end of the stream and after a failure, which `TLSStep`
/// then reports: from 4.0 on a connection whose BIO has ended or failed neither reads nor writes any more,
/// and has no reason for that, although a peer may end its side alone.
private func setRetry(_ bio: OpaquePointer?, after stop: TLSStep?, own flag: Int32) {
    let direction =
        switch stop {
        case .wantsRead: BIO_FLAGS_READ
        case .wantsWrite: BIO_FLAGS_WRITE
        default: flag
        }
    BIO_set_flags(bio, direction | BIO_FLAGS_SHOULD_RETRY)
}

/// OpenSSL requests a flush after each flight. All other requests (push, pop, pending bytes, kernel TLS) are
/// answered with 0, for "no" or "nothing".
///
/// So is `BIO_CTRL_EOF`, on purpose: if OpenSSL 3 learns of an end without close_notify, it treats it as a
/// fatal error, sends an alert to a peer that is gone, and spoils the session, although TLS no longer
/// requires that (RFC 5246, section 7.2.1). `TransportState` notes the end, and `TLSStep` reports it as
/// a truncation.
private func answerControl(
    _ bio: OpaquePointer?,
    command: Int32,
    number: Int,
    pointer: UnsafeMutableRawPointer?
) -> Int {
    switch command {
    case BIO_CTRL_FLUSH: 1
    default: 0
    }
}

/// Returns the state of one of our BIOs. Borrowed.
func transportState(of bio: OpaquePointer?) -> UnsafeMutablePointer<TransportState>? {
    BIO_get_data(bio)?.assumingMemoryBound(to: TransportState.self)
}

/// A table of functions for OpenSSL, created on first use and never freed.
///
/// If memory runs out there is no table, and the next use tries again: a failure must not be kept for good.
final class FunctionTable: @unchecked Sendable {
    private let make: @Sendable () -> OpaquePointer?
    private let table = Locked<OpaquePointer?>(nil)

    init(_ make: @escaping @Sendable () -> OpaquePointer?) {
        self.make = make
    }

    /// The table, or `nil` if there is no memory for it.
    var pointer: OpaquePointer? {
        table.withLock { table in
            if table == nil { table = make() }
            return table
        }
    }
}
