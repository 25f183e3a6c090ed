internal import CDirectOpenSSL

// A peer may send messages of TLS's own at any time: session tickets, new keys, in TLS 1.2 the wish to renegotiate.
// Each costs the receiver more than the sender, and a call that reads would pass them for as long as they come.
// They are counted by two of OpenSSL's callbacks: the one for steps of the handshake's machine, which data does not
// pass, installs the one for messages, and the next data takes that away again. So requests do not pay for it.

/// Makes reads with this context return after each message, and counts the messages.
func limitMessages(of context: OpaquePointer) {
    // On by default since OpenSSL 1.1.1: a read would go on until there is data.
    direct_SSL_CTX_clear_mode(context, Int(SSL_MODE_AUTO_RETRY))
    SSL_CTX_set_info_callback(context) { ssl, _, _ in
        // OpenSSL lends its own object here; it is not const anywhere else.
        guard let ssl else { return }
        SSL_set_msg_callback(ssl, countMessage)
    }
}

/// Begins to count anew: the handshake is over, or data has come.
func forgetMessages(_ ssl: OpaquePointer, _ transport: UnsafeMutablePointer<TransportState>) {
    transport.pointee.messages = 0
    SSL_set_msg_callback(ssl, nil)
}

private func countMessage(
    _ isSent: Int32,
    _ version: Int32,
    _ contentType: Int32,
    _ bytes: UnsafeRawPointer?,
    _ count: Int,
    _ ssl: OpaquePointer?,
    _ argument: UnsafeMutableRawPointer?
) {
    guard isSent == 0, contentType == SSL3_RT_HANDSHAKE, let state = transportState(of: SSL_get_rbio(ssl))
    else { return }
    state.pointee.messages &+= 1
}
