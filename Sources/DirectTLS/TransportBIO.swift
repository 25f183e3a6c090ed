internal import CDirectOpenSSL

/// What the BIO knows about its transport.
///
/// OpenSSL's own socket BIO is not used: it sends with `write(2)`, and a dead peer would then kill the
/// host process with SIGPIPE.
struct TransportState {
    let transport: TLSTransport
    /// Why the transport broke, or 0. Kept here because OpenSSL may overwrite `errno` on the way up.
    var errno: Int32 = 0
    var reachedEnd = false
}

/// A new BIO that moves bytes through `state`, which must outlive it. The caller owns the BIO.
func makeTransportBIO(_ state: UnsafeMutablePointer<TransportState>) -> OpaquePointer? {
    guard let method = transportMethod.pointer, let bio = BIO_new(method) else { return nil }
    BIO_set_data(bio, state)
    BIO_set_init(bio, 1)
    return bio
}

/// The table of functions of all our BIOs, made once and never freed.
private let transportMethod = TransportMethod()

private struct TransportMethod: @unchecked Sendable {
    let pointer: OpaquePointer?

    init() {
        pointer = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "direct transport")
        BIO_meth_set_read_ex(pointer, readFromTransport)
        BIO_meth_set_write_ex(pointer, writeToTransport)
        BIO_meth_set_ctrl(pointer, answerControl)
    }
}

/// Computed, not stored: a lazy global would be checked on every record.
private var retryFlags: Int32 {
    BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY
}

private func readFromTransport(
    _ bio: OpaquePointer?,
    _ buffer: UnsafeMutablePointer<CChar>?,
    _ count: Int,
    _ moved: UnsafeMutablePointer<Int>?
) -> Int32 {
    guard let state = transportState(of: bio), let buffer, let moved else { return 0 }
    BIO_clear_flags(bio, retryFlags)
    let transport = state.pointee.transport
    let answer = transport.read(transport.context, buffer, count)
    guard answer <= 0 else {
        moved.pointee = answer
        return 1
    }
    guard answer != TLSTransport.endOfStream else {
        state.pointee.reachedEnd = true
        return 0
    }
    noteStop(answer, state, bio, waitsFor: BIO_FLAGS_READ, crosswise: BIO_FLAGS_WRITE)
    return -1
}

private func writeToTransport(
    _ bio: OpaquePointer?,
    _ buffer: UnsafePointer<CChar>?,
    _ count: Int,
    _ moved: UnsafeMutablePointer<Int>?
) -> Int32 {
    guard let state = transportState(of: bio), let buffer, let moved else { return 0 }
    BIO_clear_flags(bio, retryFlags)
    let transport = state.pointee.transport
    let answer = transport.write(transport.context, buffer, count)
    guard answer <= 0 else {
        moved.pointee = answer
        return 1
    }
    let stop = answer == 0 ? TLSTransport.wouldBlock : answer
    noteStop(stop, state, bio, waitsFor: BIO_FLAGS_WRITE, crosswise: BIO_FLAGS_READ)
    return -1
}

private func noteStop(
    _ answer: Int,
    _ state: UnsafeMutablePointer<TransportState>,
    _ bio: OpaquePointer?,
    waitsFor flag: Int32,
    crosswise otherFlag: Int32
) {
    switch answer {
    case TLSTransport.wouldBlock: BIO_set_flags(bio, flag | BIO_FLAGS_SHOULD_RETRY)
    case TLSTransport.wouldBlockCrosswise: BIO_set_flags(bio, otherFlag | BIO_FLAGS_SHOULD_RETRY)
    default: state.pointee.errno = TLSTransport.errno(ofFailure: answer)
    }
}

/// OpenSSL asks for a flush after each flight. All else (push, pop, pending bytes, kernel TLS) is answered
/// "no" or "nothing".
///
/// So is `BIO_CTRL_EOF`, on purpose: told of an end without close_notify, OpenSSL 3 takes it for a fatal
/// fault, sends an alert to a peer that is gone, and spoils the session, although TLS no longer asks for that
/// (RFC 5246, section 7.2.1). `TransportState` remembers the end, and `TLSConnection` calls it a truncation.
private func answerControl(
    _ bio: OpaquePointer?,
    _ command: Int32,
    _ number: Int,
    _ pointer: UnsafeMutableRawPointer?
) -> Int {
    switch command {
    case BIO_CTRL_FLUSH: 1
    default: 0
    }
}

private func transportState(of bio: OpaquePointer?) -> UnsafeMutablePointer<TransportState>? {
    BIO_get_data(bio)?.assumingMemoryBound(to: TransportState.self)
}
