internal import CDirectOpenSSL

/// The state of the BIO that connects OpenSSL to the transport.
///
/// OpenSSL's own socket BIO is not used: it sends with `write(2)`, and a dead peer would then kill the host
/// process with SIGPIPE.
struct TransportState {
    /// The transport's object, which the driver keeps alive, and its functions. Kept as a pointer, because a
    /// reference would be counted for every record.
    private let owner: UnsafeMutableRawPointer
    private let readFunction: TLSTransport.Read
    private let writeFunction: TLSTransport.Write
    /// The `errno` with which the transport failed when OpenSSL last waited for it, or 0.
    var errno: Int32 = 0
    var reachedEnd = false
    /// Whether the transport had no more input when OpenSSL last asked for it. Only then is there anything to
    /// wait for: OpenSSL also asks for input after it has used some that yielded no data.
    var isDrained = false
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

    init(transport: TLSTransport) {
        owner = Unmanaged.passUnretained(transport.owner).toOpaque()
        readFunction = transport.read
        writeFunction = transport.write
    }

    func read(_ buffer: UnsafeMutableRawPointer, count: Int) -> Int { readFunction(owner, buffer, count) }

    /// Writes bytes behind those that are kept, and keeps them if there is no room.
    mutating func write(_ buffer: UnsafeRawPointer, count: Int) -> Int {
        let answer = holdsUnsent ? flush() : 1
        guard answer > 0 else { return keep(buffer, count: count, after: answer) }
        let sent = writeFunction(owner, buffer, count)
        return sent > 0 ? sent : keep(buffer, count: count, after: sent == 0 ? TLSTransport.wouldBlock : sent)
    }

    private mutating func keep(_ buffer: UnsafeRawPointer, count: Int, after answer: Int) -> Int {
        let hasNoRoom = answer == TLSTransport.wouldBlock || answer == TLSTransport.wouldBlockCrosswise
        guard keepsUnsent, hasNoRoom, unsent.count + count <= Self.mostUnsent else { return answer }
        unsent.append(contentsOf: UnsafeRawBufferPointer(start: buffer, count: count))
        holdsUnsent = true
        return count
    }

    /// Sends the bytes that are kept. Returns a positive number if none are left.
    mutating func flush() -> Int {
        while holdsUnsent {
            let sent = unsent.withUnsafeBytes { bytes in
                bytes.baseAddress.map { writeFunction(owner, $0, bytes.count) } ?? 0
            }
            guard sent > 0 else { return sent == 0 ? TLSTransport.wouldBlock : sent }
            unsent.removeFirst(min(sent, unsent.count))
            holdsUnsent = !unsent.isEmpty
        }
        unsent = []
        return 1
    }

    /// Begins an OpenSSL call that reads at most 16 buffers of 16 KiB, however fast the peer sends.
    mutating func beginReading() {
        readsLeft = 16
        isDrained = false
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
    // Within one call, OpenSSL would continue for as long as the peer sends.
    guard !state.pointee.hasTooManyMessages, state.pointee.readsLeft > 0 else {
        noteStop(TLSTransport.again, state: state, bio: bio, waitsFor: BIO_FLAGS_READ, crosswise: 0)
        return -1
    }
    state.pointee.readsLeft &-= 1
    let answer = state.pointee.read(buffer, count: count)
    guard answer <= 0 else {
        moved.pointee = answer
        return 1
    }
    if answer == TLSTransport.endOfStream { state.pointee.reachedEnd = true }
    noteStop(answer, state: state, bio: bio, waitsFor: BIO_FLAGS_READ, crosswise: BIO_FLAGS_WRITE)
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
    let answer = state.pointee.write(buffer, count: count)
    guard answer <= 0 else {
        moved.pointee = answer
        return 1
    }
    noteStop(answer, state: state, bio: bio, waitsFor: BIO_FLAGS_WRITE, crosswise: BIO_FLAGS_READ)
    return -1
}

/// OpenSSL is always told to try again, also after the end of the stream and after a failure, which `TLSStep`
/// then reports: from 4.0 on a connection whose BIO has ended or failed neither reads nor writes any more,
/// and has no reason for that, although a peer may end its side alone.
private func noteStop(
    _ answer: Int,
    state: UnsafeMutablePointer<TransportState>,
    bio: OpaquePointer?,
    waitsFor flag: Int32,
    crosswise otherFlag: Int32
) {
    state.pointee.errno = 0
    switch answer {
    case TLSTransport.wouldBlock:
        state.pointee.isDrained = true
        BIO_set_flags(bio, flag | BIO_FLAGS_SHOULD_RETRY)
    case TLSTransport.wouldBlockCrosswise: BIO_set_flags(bio, otherFlag | BIO_FLAGS_SHOULD_RETRY)
    case TLSTransport.again, TLSTransport.endOfStream:
        BIO_set_flags(bio, flag | BIO_FLAGS_SHOULD_RETRY)
    default:
        state.pointee.errno = TLSTransport.errno(ofFailure: answer)
        BIO_set_flags(bio, flag | BIO_FLAGS_SHOULD_RETRY)
    }
}

/// OpenSSL requests a flush after each flight. All other requests (push, pop, pending bytes, kernel TLS) are
/// answered with 0, for "no" or "nothing".
///
/// So is `BIO_CTRL_EOF`, on purpose: if OpenSSL 3 learns of an end without close_notify, it treats it as a
/// fatal error, sends an alert to a peer that is gone, and spoils the session, although TLS no longer
/// requires that (RFC 5246, section 7.2.1). `TransportState` remembers the end, and `TLSStep` reports it as
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
