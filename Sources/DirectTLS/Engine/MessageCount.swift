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
