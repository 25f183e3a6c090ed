internal import CDirectOpenSSL

/// A TLS connection that accepts any certificate, and records the certificates.
///
/// For examining servers, never for secrets: code that sends data here must have judged the certificates itself. One
/// owner at a time, like `TLSConnection`; no call waits.
package final class SurveyConnection: @unchecked Sendable {
    private let context: SurveyContext
    /// Owned: freed in `deinit`, before the state that its BIO points to.
    private let ssl: OpaquePointer
    private let transport: UnsafeMutablePointer<TransportState>
    /// Whether the server asked for a client certificate. Set by OpenSSL's callback, within `handshake`.
    package internal(set) var wasAskedForCertificate = false
    private var isOpen = false

    /// Prepares a connection. No bytes are sent yet. The transport must outlive it.
    ///
    /// - Parameters:
    ///   - serverName: The name to send as SNI, or `nil` to send none. Never an address.
    ///   - offersHTTP: Whether to offer `http/1.1` by ALPN.
    package init(
        context: SurveyContext,
        serverName: String?,
        offersHTTP: Bool,
        transport: TLSTransport
    ) throws(TLSError) {
        ErrorQueue.clear()
        guard let ssl = SSL_new(context.raw) else { throw .badSettings(ErrorQueue.drainedReason()) }
        self.context = context
        self.ssl = ssl
        self.transport = .allocate(capacity: 1)
        self.transport.initialize(to: TransportState(transport: transport))
        guard let bio = makeTransportBIO(self.transport) else {
            throw .badSettings(ErrorQueue.drainedReason())
        }
        // One BIO for both directions takes one reference: the `SSL` now owns ours.
        SSL_set_bio(ssl, bio, bio)
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        if let serverName, direct_SSL_set_tlsext_host_name(ssl, serverName) != 1 {
            throw .badIdentity("cannot be sent: \(printable(serverName))")
        }
        // Zero means success here, unlike in other functions.
        if offersHTTP, SSL_set_alpn_protos(ssl, offeredProtocols, UInt32(offeredProtocols.count)) != 0 {
            throw .badSettings("ALPN: \(ErrorQueue.drainedReason())")
        }
        // Makes servers that have one send an OCSP staple (RFC 6066, section 8).
        SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_STATUS_REQ_TYPE, Int(TLSEXT_STATUSTYPE_ocsp), nil)
        SSL_set_connect_state(ssl)
    }

    deinit {
        SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        SSL_free(ssl)
        transport.deinitialize(count: 1)
        transport.deallocate()
    }

    /// Continues the handshake. `.done` does not mean that the certificate is valid.
    package func handshake() -> HandshakeStep {
        ErrorQueue.clear()
        transport.pointee.beginReading()
        let result = SSL_do_handshake(ssl)
        transport.pointee.endReading()
        guard result != 1 else {
            forgetMessages(ssl, transport: transport)
            isOpen = true
            return .done
        }
        return switch SSLResult(of: ssl, result, transport, rejection: nil) {
        case .wantsRead: transport.pointee.isDrained ? .wantsRead : .again
        case .wantsWrite: .wantsWrite
        case .closeNotify: .failed(.alertReceived(.closeNotify))
        case .truncated: .failed(.truncated)
        case .failed(let error): .failed(error)
        }
    }

    /// Reads data that has arrived, at most one record.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadStep {
        guard isOpen, buffer.count > 0 else { return .failed(.notOpen) }
        var count = 0
        ErrorQueue.clear()
        transport.pointee.beginReading()
        let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        transport.pointee.endReading()
        if result == 1 {
            if transport.pointee.messages > 0 { forgetMessages(ssl, transport: transport) }
            return .bytes(count)
        }
        return switch SSLResult(of: ssl, result, transport, rejection: nil) {
        case .wantsRead: transport.pointee.isDrained ? .wantsRead : .again
        case .wantsWrite: .wantsWrite
        case .closeNotify: .closeNotify
        case .truncated: .truncated
        case .failed(let error): .failed(error)
        }
    }

    /// Sends some of the bytes. After a wait, the call must be repeated with the same bytes.
    package func write(_ bytes: UnsafeRawBufferPointer) -> WriteStep {
        guard isOpen, bytes.count > 0 else { return .failed(.notOpen) }
        var count = 0
        ErrorQueue.clear()
        let result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        if result == 1 { return .bytes(count) }
        return switch SSLResult(of: ssl, result, transport, rejection: nil) {
        case .wantsRead: .wantsRead
        case .wantsWrite: .wantsWrite
        case .closeNotify, .truncated: .failed(.truncated)
        case .failed(let error): .failed(error)
        }
    }

    /// Tells the server that no more data will follow, if the transport accepts it immediately.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        ErrorQueue.clear()
        _ = SSL_shutdown(ssl)
        ErrorQueue.clear()
    }

    /// The negotiated parameters. Only valid after the handshake.
    package var facts: SurveyFacts {
        SurveyFacts(
            version: SSL_get_version(ssl).map { String(cString: $0) } ?? "",
            cipher: SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? "",
            group: groupName,
            alpn: chosenProtocol,
            hasStaple: hasStaple,
            asksForCertificate: wasAskedForCertificate
        )
    }

    /// The certificates that the server sent, its own first; `nil` if there are none.
    package var served: ServedChain? {
        ServedChain(SSL_get_peer_cert_chain(ssl), context: context)
    }

    private var hasStaple: Bool {
        // Borrowed: the bytes belong to OpenSSL.
        var bytes: UnsafeMutablePointer<UInt8>?
        return SSL_ctrl(ssl, SSL_CTRL_GET_TLSEXT_STATUS_REQ_OCSP_RESP, 0, &bytes) > 0
    }

    private var groupName: String? {
        let number = direct_SSL_get_negotiated_group(ssl)
        guard number != NID_undef, let name = OBJ_nid2sn(number) else { return nil }
        return String(cString: name)
    }

    private var chosenProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &bytes, &count)
        guard let bytes, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }
}

/// The parameters that a survey's handshake negotiated.
package struct SurveyFacts: Hashable, Sendable {
    /// The version as OpenSSL writes it, such as `TLSv1.3`.
    package let version: String
    /// The cipher suite's IANA name.
    package let cipher: String
    /// The group of the key exchange; `nil` if OpenSSL does not report one.
    package let group: String?
    /// The protocol that the server chose by ALPN; `nil` if it chose none.
    package let alpn: String?
    /// Whether the server sent an OCSP staple.
    package let hasStaple: Bool
    /// Whether the server asked for a client certificate.
    package let asksForCertificate: Bool
}
