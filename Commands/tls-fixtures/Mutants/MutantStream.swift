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
    private let descriptor: Int32
    private var tls: (context: OpaquePointer, ssl: OpaquePointer)?
    private(set) var buffer: [UInt8] = []
    private let deadline: ContinuousClock.Instant
    let mutation: Mutation?
    /// Whether another request may follow on it.
    var isOpen = true
    /// Whether what comes behind the last response is taken for the next one.
    var takesLeftovers = false
    /// Whether it is used again though its last response had no valid framing.
    var outlivesFault = false
    private var (isSecured, isClosed) = (false, false)

    /// Connects to an address with a port.
    init(_ place: String, deadline: ContinuousClock.Instant, mutation: Mutation?) throws(MutantFault) {
        (self.deadline, self.mutation) = (deadline, mutation)
        let colon = place.lastIndex(of: ":") ?? place.startIndex
        let host = place[..<colon].filter { $0 != "[" && $0 != "]" }
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(place[colon...].dropFirst()), &hints, &list) == 0, let list
        else { throw .refused("\(place) is no address") }
        defer { freeaddrinfo(list) }
        #if canImport(Glibc)
        descriptor = socket(list.pointee.ai_family, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(list.pointee.ai_family, SOCK_STREAM, 0)
        #endif
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        setLimits()
        guard connect(descriptor, list.pointee.ai_addr, list.pointee.ai_addrlen) == 0 else {
            let number = errno
            end()
            if number == EINPROGRESS || number == EAGAIN { throw .timeout }
            throw .refused("connecting to \(place): errno \(number)")
        }
    }

    deinit { end() }

    /// Does a TLS handshake, in which the server has to show a certificate for the host that chains to one of
    /// the roots.
    func secure(host: String, roots: String, anyCertificate: Bool, anyName: Bool) throws(MutantFault) {
        guard let context = SSL_CTX_new(TLS_client_method()), let ssl = SSL_new(context) else {
            throw .refused("no TLS")
        }
        tls = (context, ssl)
        try demand(SSL_CTX_load_verify_locations(context, roots, nil) == 1, "no roots in \(roots)")
        SSL_set_fd(ssl, descriptor)
        SSL_set_verify(ssl, anyCertificate ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nil)
        let parameters = SSL_get0_param(ssl)
        X509_VERIFY_PARAM_set_hostflags(parameters, hostFlags)
        X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_POLICY_CHECK))
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        if !name.isAddress { direct_SSL_set_tlsext_host_name(ssl, name) }
        let wanted: String? =
            switch mutation {
            case _ where anyName: nil
            case .anyName, .organizationsAsNames: nil
            case .anyAddress where name.isAddress: nil
            case .parentsAsNames where !name.isAddress:
                name.split(separator: ".").dropFirst().joined(separator: ".")
            case .namesOfAddresses where !name.isAddress: "127.0.0.1"
            default: name
            }
        if let wanted, wanted.isAddress, mutation != .addressesAsNames {
            X509_VERIFY_PARAM_set1_ip_asc(parameters, wanted)
        } else if let wanted {
            X509_VERIFY_PARAM_set1_host(parameters, wanted, wanted.utf8.count)
        }
        // What TLS sends on a connection that has gone would end the process.
        blockPipeSignal()
        _ = try transfer { SSL_connect($0) }
        isSecured = true
        guard mutation == .organizationsAsNames else { return }
        let certificate = SSL_get0_peer_certificate(ssl)
        var text = [CChar](repeating: 0, count: 256)
        let subject = X509_get_subject_name(certificate)
        let count = X509_NAME_get_text_by_NID(subject, NID_organizationName, &text, Int32(text.count))
        let isOrganization = text.prefix(Int(max(0, count))).elementsEqual(name.utf8.map { CChar($0) })
        let isNamed = X509_check_host(certificate, name, 0, hostFlags, nil) == 1
        try demand(isNamed || isOrganization, "another name")
    }

    private var hostFlags: UInt32 {
        let usual = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
        return switch mutation {
        case .commonNames: UInt32(X509_CHECK_FLAG_ALWAYS_CHECK_SUBJECT)
        case .partialWildcards: UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
        case .deepWildcards: UInt32(usual | X509_CHECK_FLAG_MULTI_LABEL_WILDCARDS)
        case .noWildcards: UInt32(usual | X509_CHECK_FLAG_NO_WILDCARDS)
        default: UInt32(usual)
        }
    }

    func write(_ bytes: [UInt8]) throws(MutantFault) {
        var sent = 0
        while sent < bytes.count {
            let rest = Array(bytes[sent...])
            let count = try transfer { ssl in
                ssl.map { SSL_write($0, rest, Int32(rest.count)) }
                    ?? Int32(send(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL)))
            }
            if count == 0 { throw .ended("the connection ended") }
            sent += count
        }
    }

    /// Waits until something arrives that has not been read, or the end of the connection, for this time at
    /// most. Returns whether it has.
    func hasUnread(within milliseconds: Int32 = 0) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return !buffer.isEmpty || poll(&polled, 1, milliseconds) > 0
    }

    /// Reads a line, and returns it without its end.
    func line() throws(MutantFault) -> String {
        while true {
            if let end = lineEnd {
                var line = Array(buffer[..<end.lowerBound])
                buffer.removeFirst(end.upperBound)
                if line.last == 13 { line.removeLast() }
                return line.latin1
            }
            try demand(buffer.count < 1 << 20, "a line is too long")
            if try !fill() { throw .ended("the connection ended within a line") }
        }
    }

    /// Where the first line ends in the buffer.
    private var lineEnd: Range<Int>? {
        if mutation == .linesEndAtU2028, let end = buffer.firstRange(of: [0xE2, 0x80, 0xA8]) { return end }
        let others: [UInt8] =
            switch mutation {
            case .linesEndAtNEL: [0x85]
            case .linesEndAtControls: [0x0B, 0x0C, 0x1C, 0x1D, 0x1E]
            default: []
            }
        return buffer.firstIndex { $0 == 10 || others.contains($0) }.map { $0..<$0 + 1 }
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
        return try take(upTo: buffer.count)
    }

    /// Reads what has come. Returns `false` at the end of the connection.
    private func fill() throws(MutantFault) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = try transfer { ssl in
            ssl.map { SSL_read($0, &bytes, Int32(bytes.count)) }
                ?? Int32(recv(descriptor, &bytes, bytes.count, 0))
        }
        buffer += bytes[..<count]
        return count > 0
    }

    /// Sends or receives, for as long as there is time. Returns how many bytes it was; 0 at the end of the
    /// connection.
    private func transfer(_ call: (OpaquePointer?) -> Int32) throws(MutantFault) -> Int {
        setLimits()
        ERR_clear_error()
        let count = call(tls?.ssl)
        if count > 0 { return Int(count) }
        guard let ssl = tls?.ssl else {
            if count == 0 { return 0 }
            throw errno == EAGAIN ? .timeout : .ended("errno \(errno)")
        }
        switch SSL_get_error(ssl, count) {
        case SSL_ERROR_ZERO_RETURN: return 0
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: throw .timeout
        case _ where isSecured: throw .ended("TLS ended without close_notify")
        default:
            let text = X509_verify_cert_error_string(SSL_get_verify_result(ssl)).map { String(cString: $0) }
            throw .refused("TLS failed: \(text ?? "")")
        }
    }

    /// Lets no call last longer than what is left of the time.
    private func setLimits() {
        let left = max(1, ContinuousClock.now.duration(to: deadline).milliseconds)
        var limit = timeval(tv_sec: Int(left) / 1000, tv_usec: suseconds_t(left % 1000 * 1000))
        for name in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, name, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Ends the connection, with close_notify over TLS.
    func end() {
        guard !isClosed else { return }
        let isSilent = mutation == .noCloseNotify || mutation == .noCloseNotifyOfKept && isOpen
        (isClosed, isOpen) = (true, false)
        if let tls {
            if !isSilent, SSL_is_init_finished(tls.ssl) == 1 { SSL_shutdown(tls.ssl) }
            SSL_free(tls.ssl)
            SSL_CTX_free(tls.context)
        }
        tls = nil
        close(descriptor)
    }
}
