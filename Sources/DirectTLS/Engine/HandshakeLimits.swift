internal import CDirectOpenSSL

// A peer may send TLS messages without data at any time: session tickets, key updates, in TLS 1.2 requests to
// renegotiate. Each costs the receiver more than the sender, and a reading call would process them for as
// long as they come.
//
// So they are counted, by two of OpenSSL's callbacks. The info callback, which is called for steps of the
// handshake's state machine and not for data, installs the message callback; the next data removes it again.
// So requests do not pay for it.

/// Makes reads in this context return after each message, and counts the messages.
func limitMessages(of context: OpaquePointer) {
    // On by default since OpenSSL 1.1.1: a read would continue until there is data.
    direct_SSL_CTX_clear_mode(context, Int(SSL_MODE_AUTO_RETRY))
    SSL_CTX_set_info_callback(context) { ssl, _, _ in
        // OpenSSL passes its own object as const here, which it is not anywhere else.
        guard let ssl else { return }
        installMessageCount(ssl)
    }
}

/// Makes the messages of a connection count, until data arrives. An info callback calls this.
func installMessageCount(_ ssl: OpaquePointer) {
    SSL_set_msg_callback(ssl) { isSent, version, contentType, bytes, count, ssl, _ in
        guard isSent == 0, contentType == SSL3_RT_HANDSHAKE, let ssl else { return }
        noteMessage(UnsafeRawBufferPointer(start: bytes, count: count), version: version, ssl: ssl)
    }
}

/// Resets the count: the handshake is complete, or data has arrived.
func resetMessageCount(_ ssl: OpaquePointer, transport: UnsafeMutablePointer<TransportState>) {
    transport.pointee.messages = 0
    SSL_set_msg_callback(ssl, nil)
}

private func noteMessage(_ message: UnsafeRawBufferPointer, version: Int32, ssl: OpaquePointer) {
    guard let state = transportState(of: SSL_get_rbio(ssl)) else { return }
    state.pointee.messages &+= 1
    if refusesCertificates(message, version: version, ssl: ssl) {
        state.pointee.hasTooManyCertificates = true
    }
}

// OpenSSL reads all certificates that a server sends before it verifies the first one. In OpenSSL 3.0 each
// takes a million instructions, however small it is, because the decoders of all kinds of keys are looked up
// for it, and ten times its length in memory. So not only their bytes are limited: each counts as 2 KiB at
// least.

/// The bytes that a certificate counts as at least.
let smallestCertificate = 2 * 1024

/// Ends handshakes in which the server sends more bytes of certificates. OpenSSL looks at the length of the
/// message before it receives it (`SSL_R_EXCESSIVE_MESSAGE_SIZE`), and `checkCertificates` at the rest.
func limitCertificates(of context: OpaquePointer, to limit: Int) {
    // The length in the head of a message has 24 bits (RFC 8446, section 4).
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_CERT_LIST, min(max(1, limit), 1 << 24), nil)
}

/// Returns the limit of a connection.
func certificateLimit(of ssl: OpaquePointer) -> Int {
    SSL_ctrl(ssl, SSL_CTRL_GET_MAX_CERT_LIST, 0, nil)
}

/// Makes OpenSSL refuse a Certificate message with too many certificates. Returns whether it is one.
///
/// OpenSSL's message callback sees each message before it is read, and cannot refuse it. But the bytes are
/// OpenSSL's own buffer, from which it reads them afterwards: a first byte of 255 is a length that no message
/// has, in TLS 1.3 of the context (RFC 8446, section 4.4.2: "SHALL be zero length"), in older versions of the
/// list (RFC 5246, section 7.4.2).
private func refusesCertificates(_ message: UnsafeRawBufferPointer, version: Int32, ssl: OpaquePointer)
    -> Bool
{
    guard message.count > 4, message[0] == SSL3_MT_CERTIFICATE,
        weight(of: message, isNew: version >= TLS1_3_VERSION) > certificateLimit(of: ssl),
        let start = message.baseAddress
    else { return false }
    UnsafeMutableRawPointer(mutating: start).storeBytes(of: 255, toByteOffset: 4, as: UInt8.self)
    return true
}

/// Returns what the certificates of a message count as. Where its lengths are wrong OpenSSL will refuse it.
private func weight(of message: UnsafeRawBufferPointer, isNew: Bool) -> Int {
    var rest = message.dropFirst(isNew ? 8 : 7)
    var weight = 0
    while let length = number(of: 3, in: rest) {
        weight += max(length, smallestCertificate)
        rest = rest.dropFirst(3 + length)
        // In TLS 1.3 each has extensions.
        if isNew { rest = rest.dropFirst(2 + (number(of: 2, in: rest) ?? 0)) }
    }
    return weight
}

/// Returns a number of so many bytes; `nil` if there are fewer.
private func number(of count: Int, in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
    bytes.count < count ? nil : bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
}
