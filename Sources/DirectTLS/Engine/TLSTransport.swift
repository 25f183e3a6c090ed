/// The transport of the encrypted bytes: a socket, another TLS connection, or a test's memory.
///
/// It answers with a step, so a wait says for which direction, and a failure says why: neither can be taken
/// for the other. No call waits, or raises a signal (`MSG_NOSIGNAL`).
package protocol TLSTransport: AnyObject {
    /// Reads into the memory, which is not empty, as much as is there.
    ///
    /// - Returns: `.moved` with at least one byte; `.again` if input was used without a byte for the reader,
    ///   and there may be more; `.ended`, clean or not, if there will be no more bytes.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> TLSStep

    /// Writes some of the bytes, of which there is at least one.
    func send(_ bytes: UnsafeRawBufferPointer) -> TLSStep
}
