#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif
internal import CDirectOpenSSL

/// A connection of the mutant client: a blocking socket, TLS over it, and what was read ahead.
///
/// It has nothing in common with this package's sockets and TLS, so that their faults are not its own. It
/// belongs to one thread.
final class MutantStream {
    private let socket: Int32
    private var tls:
        (context: OpaquePointer, ssl: OpaquePointer, input: OpaquePointer, output: OpaquePointer)?
    private(set) var buffer: [UInt8] = []
    private let deadline: ContinuousClock.Instant
    private let mutation: Mutation?
    /// Whether another request may follow on it.
    var isOpen = true
    /// Whether what comes behind the last response is taken for the next one.
    var takesLeftovers = false
    /// Whether it is used again though its last response had no valid framing.
    var outlivesFault = false
    private var isClosed = false

    /// Connects to an address with a port.
    init(_ place: String, deadline: ContinuousClock.Instant, mutation: Mutation?) throws(MutantFault) {
        (self.deadline, self.mutation) = (deadline, mutation)
        guard let colon = place.lastIndex(of: ":") else { throw .refused("no port in \(place)") }
        let host = place[..<colon].filter { $0 != "[" && $0 != "]" }
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(place[place.index(after: colon)...]), &hints, &list) == 0, let list
        else { throw .refused("\(place) is no address") }
        defer { freeaddrinfo(list) }
        socket = newSocket(list.pointee.ai_family)
        setLimits()
        guard connect(socket, list.pointee.ai_addr, list.pointee.ai_addrlen) == 0 else {
            let number = errno
            closeDescriptor(socket)
            isClosed = true
            if number == EINPROGRESS || number == EAGAIN { throw .timeout }
            throw .refused("connecting to \(place): errno \(number)")
        }
    }

    deinit { close() }

    /// Does a TLS handshake, in which the server has to show a certificate for the host that chains to one of
    /// the roots.
    ///
    /// - Parameter isLax: Whether no certificate is looked at.
    func secure(host: String, roots: String, isLax: Bool = false) throws(MutantFault) {
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw .refused("no TLS") }
        guard SSL_CTX_load_verify_locations(context, roots, nil) == 1, let ssl = SSL_new(context),
            let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem())
        else { throw .refused("no roots in \(roots)") }
        tls = (context, ssl, input, output)
        SSL_set_bio(ssl, input, output)
        SSL_set_verify(ssl, isLax || mutation == .anyCertificate ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nil)
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        let parameters = SSL_get0_param(ssl)
        var flags = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
        if mutation == .commonNames { flags = X509_CHECK_FLAG_ALWAYS_CHECK_SUBJECT }
        if mutation == .partialWildcards { flags &= ~X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS }
        if mutation == .deepWildcards { flags |= X509_CHECK_FLAG_MULTI_LABEL_WILDCARDS }
        if mutation == .noWildcards { flags |= X509_CHECK_FLAG_NO_WILDCARDS }
        X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(flags))
        X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_POLICY_CHECK))
        let isAddress = name.isAddress
        if !isAddress { direct_SSL_set_tlsext_host_name(ssl, name) }
        switch mutation {
        case .anyName, .organizationsAsNames, .urisAsNames: break
        case .anyAddress where isAddress: break
        case .addressesAsNames: X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count)
        case .parentsAsNames:
            let parent = name.split(separator: ".").dropFirst().joined(separator: ".")
            X509_VERIFY_PARAM_set1_host(parameters, parent, parent.utf8.count)
        case .namesOfAddresses where !isAddress: X509_VERIFY_PARAM_set1_ip_asc(parameters, "127.0.0.1")
        default:
            if isAddress {
                X509_VERIFY_PARAM_set1_ip_asc(parameters, name)
            } else {
                X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count)
            }
        }
        try drive { SSL_connect(ssl) }
        guard mutation == .organizationsAsNames || mutation == .urisAsNames else { return }
        let isInPlace = mutation == .urisAsNames ? isInURI(name) : isOrganization(name)
        guard let certificate = SSL_get0_peer_certificate(ssl),
            X509_check_host(certificate, name, 0, UInt32(flags), nil) == 1 || isInPlace
        else { throw .refused("another name") }
    }

    /// Whether the server's certificate names this organization.
    private func isOrganization(_ name: String) -> Bool {
        guard let tls, let certificate = SSL_get0_peer_certificate(tls.ssl) else { return false }
        var text = [CChar](repeating: 0, count: 256)
        let subject = X509_get_subject_name(certificate)
        let count = X509_NAME_get_text_by_NID(subject, NID_organizationName, &text, Int32(text.count))
        return count > 0 && text.prefix(Int(count)).elementsEqual(name.utf8.map { CChar(bitPattern: $0) })
    }

    /// Whether a URI with this host is in the server's certificate.
    private func isInURI(_ name: String) -> Bool {
        guard let tls, let certificate = SSL_get0_peer_certificate(tls.ssl) else { return false }
        var bytes = [UInt8](repeating: 0, count: max(0, Int(i2d_X509(certificate, nil))))
        bytes.withUnsafeMutableBufferPointer { buffer in
            var place = buffer.baseAddress
            i2d_X509(certificate, &place)
        }
        return bytes.firstRange(of: Array("://\(name)".utf8)) != nil
    }

    func send(_ bytes: [UInt8]) throws(MutantFault) {
        guard !bytes.isEmpty else { return }
        if let tls { try drive { SSL_write(tls.ssl, bytes, Int32(bytes.count)) } } else { try sendRaw(bytes) }
    }

    /// Whether something has arrived that nothing asked for, or the end of the connection.
    var hasUnread: Bool {
        var polled = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return !buffer.isEmpty || poll(&polled, 1, 0) > 0
    }

    /// Waits until something arrives, for this time at most.
    func waitForBytes(milliseconds: Int32) {
        var polled = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        _ = poll(&polled, 1, milliseconds)
    }

    /// Reads a line, and returns it without its end.
    func line() throws(MutantFault) -> [UInt8] {
        while true {
            if let end = lineEnd {
                var line = Array(buffer[..<end.lowerBound])
                buffer.removeFirst(end.upperBound)
                if line.last == 13 { line.removeLast() }
                return line
            }
            guard buffer.count < 1 << 20 else { throw .refused("a line is too long") }
            guard try fill() else { throw .ended("the connection ended within a line") }
        }
    }

    /// Where the first line ends in the buffer.
    private var lineEnd: Range<Int>? {
        if mutation == .linesEndAtU2028, let end = buffer.firstRange(of: [0xE2, 0x80, 0xA8]) { return end }
        let end = buffer.firstIndex { byte in
            switch mutation {
            case .linesEndAtNEL: byte == 10 || byte == 0x85
            case .linesEndAtControls: byte == 10 || [0x0B, 0x0C, 0x1C, 0x1D, 0x1E].contains(byte)
            default: byte == 10
            }
        }
        return end.map { $0..<$0 + 1 }
    }

    /// Reads this many bytes, or fewer if the connection ends before.
    func take(upTo count: Int) throws(MutantFault) -> [UInt8] {
        while buffer.count < count, try fill() {}
        defer { buffer.removeFirst(min(count, buffer.count)) }
        return Array(buffer.prefix(count))
    }

    /// Reads to the end of the connection, which must come in order.
    func rest() throws(MutantFault) -> [UInt8] {
        while try fill() {}
        defer { buffer = [] }
        return buffer
    }

    /// Reads what has come. Returns `false` at the end of the connection.
    private func fill() throws(MutantFault) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        if let tls {
            guard let count = try drive({ SSL_read(tls.ssl, &bytes, Int32(bytes.count)) }) else {
                return false
            }
            buffer += bytes[..<count]
            return true
        }
        let count = try receive(&bytes)
        buffer += bytes[..<count]
        return count > 0
    }

    /// Repeats an operation of TLS until it is done. Returns its result, or `nil` after close_notify.
    @discardableResult
    private func drive(_ operation: () -> Int32) throws(MutantFault) -> Int? {
        guard let tls else { return nil }
        while true {
            ERR_clear_error()
            let result = operation()
            let kind = SSL_get_error(tls.ssl, result)
            try flush()
            if result > 0 { return Int(result) }
            switch kind {
            case SSL_ERROR_ZERO_RETURN: return nil
            case SSL_ERROR_WANT_READ:
                var bytes = [UInt8](repeating: 0, count: 1 << 15)
                let count = try receive(&bytes)
                guard count > 0 else { throw .ended("the connection ended without close_notify") }
                BIO_write(tls.input, bytes, Int32(count))
            default:
                let result = SSL_get_verify_result(tls.ssl)
                let text = X509_verify_cert_error_string(Int(result)).map { String(cString: $0) } ?? ""
                throw .refused("TLS failed: \(result == 0 ? "alert or protocol" : text)")
            }
        }
    }

    /// Sends what TLS has written.
    private func flush() throws(MutantFault) {
        guard let tls else { return }
        var bytes = [UInt8](repeating: 0, count: 1 << 15)
        while true {
            let count = BIO_read(tls.output, &bytes, Int32(bytes.count))
            guard count > 0 else { return }
            try sendRaw(Array(bytes[..<Int(count)]))
        }
    }

    private func sendRaw(_ bytes: [UInt8]) throws(MutantFault) {
        var sent = 0
        while sent < bytes.count {
            setLimits()
            let count = sendSome(socket, bytes[sent...])
            if count < 0, errno == EAGAIN { throw .timeout }
            guard count > 0 else { throw .ended("sending failed: errno \(errno)") }
            sent += count
        }
    }

    /// Returns 0 at the end of the connection.
    private func receive(_ bytes: inout [UInt8]) throws(MutantFault) -> Int {
        setLimits()
        let count = recv(socket, &bytes, bytes.count, 0)
        if count < 0, errno == EAGAIN { throw .timeout }
        guard count >= 0 else { throw .ended("reading failed: errno \(errno)") }
        return count
    }

    /// Lets no call last longer than what is left of the time.
    private func setLimits() {
        let left = max(1, ContinuousClock.now.duration(to: deadline).milliseconds)
        var limit = timeval(tv_sec: Int(left) / 1000, tv_usec: suseconds_t(left % 1000 * 1000))
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Ends the connection, with close_notify over TLS.
    func close() {
        guard !isClosed else { return }
        let isKept = isOpen
        (isClosed, isOpen) = (true, false)
        if let tls {
            let isSilent = mutation == .noCloseNotify || mutation == .noCloseNotifyOfKept && isKept
            if !isSilent, SSL_is_init_finished(tls.ssl) == 1 {
                SSL_shutdown(tls.ssl)
                try? flush()
            }
            SSL_free(tls.ssl)
            SSL_CTX_free(tls.context)
            self.tls = nil
        }
        closeDescriptor(socket)
    }
}

// The names of these calls mean something else within the type.
private func newSocket(_ family: Int32) -> Int32 {
    #if canImport(Glibc)
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    #else
    let descriptor = socket(family, SOCK_STREAM, 0)
    #endif
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
}

private func sendSome(_ socket: Int32, _ bytes: ArraySlice<UInt8>) -> Int {
    bytes.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
}

private func closeDescriptor(_ socket: Int32) { close(socket) }
