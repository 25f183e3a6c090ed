internal import CSimulation

/// The server's side of a stream of bytes.
protocol Wire: AnyObject, Sendable {
    /// Returns the bytes that have arrived, waiting if there are none; an empty array at the end.
    func read() async throws(WireError) -> [UInt8]
    func write(_ bytes: [UInt8]) async throws(WireError)
    /// Sends the piece again and again, so many bytes in all; then the stream ends.
    func flood(_ piece: [UInt8], count: Int) async throws(WireError)
    /// Ends the stream. Without `politely`, TLS sends no close_notify.
    func close(politely: Bool) async
}

/// The client has gone, or has violated the protocol.
enum WireError: Error {
    case broken
}

/// A stream over a simulated connection.
final class SocketWire: Wire, @unchecked Sendable {
    let connection: SimulatedConnection

    init(_ connection: SimulatedConnection) {
        self.connection = connection
    }

    func read() async throws(WireError) -> [UInt8] {
        guard let bytes = await connection.kernel.serverReads(connection) else { throw .broken }
        return bytes
    }

    func write(_ bytes: [UInt8]) async throws(WireError) {
        guard await connection.kernel.serverWrites(bytes, to: connection) else { throw .broken }
    }

    func flood(_ piece: [UInt8], count: Int) async throws(WireError) {
        connection.send(endlessly: piece, count: count)
    }

    func close(politely: Bool) async {
        connection.kernel.serverCloses(connection)
    }
}

/// A TLS server over another stream.
final class TLSWire: Wire, @unchecked Sendable {
    private let below: any Wire
    private let tls: OpaquePointer
    /// Whether the stream below has ended.
    private var hasEnded = false
    private var buffer = [UInt8](repeating: 0, count: 16384 + 256)
    /// The pause in the middle of the session tickets, in microseconds; `nil` afterwards, or if there is
    /// none.
    private var ticketPause: Int?
    /// Whether its certificate is damaged on its way, which TLS 1.2 does not encrypt.
    private var isMalformed: Bool
    private let kernel: Kernel

    /// - Parameters:
    ///   - name: The name that the certificate is for, and its kind.
    ///   - host: The server's properties.
    convenience init(
        over below: any Wire,
        name: String,
        _ kind: Material.Certificate,
        list: AddressPlan.CertificateList? = nil,
        as host: HostPlan,
        in kernel: Kernel
    ) {
        let context = Material.shared.context(for: name, kind: kind, list: list)
        self.init(over: below, context, as: host, isMalformed: list == .malformed, in: kernel)
    }

    /// Creates the server of a context.
    init(
        over below: any Wire,
        _ context: UnsafeMutableRawPointer,
        as host: HostPlan,
        isMalformed: Bool = false,
        in kernel: Kernel
    ) {
        (self.below, self.kernel, self.isMalformed) = (below, kernel, isMalformed)
        self.ticketPause = host.ticketPause
        let hasPause: Int32 = host.ticketPause == nil ? 0 : 1
        tls = sim_tls_new(context, Int32(host.tickets), host.isOldTLS || isMalformed ? 1 : 0, hasPause)
        if host.asksForIdentity == true { sim_tls_ask(tls) }
    }

    /// Staples bytes to the certificate, for a client that asks.
    func staple(_ bytes: [UInt8]) { sim_tls_staple(tls, bytes, bytes.count) }

    deinit {
        sim_tls_free(tls)
    }

    /// The name that the client has sent; `nil` if none.
    var serverName: String? { sim_tls_server_name(tls).map { String(cString: $0) } }

    var isEstablished: Bool { sim_tls_is_established(tls) == 1 }

    var isOldVersion: Bool { sim_tls_version(tls) == 0x0303 }

    /// The number of the client's identity; 0 without one.
    var identity: Int { sim_tls_client(tls) }

    var isResumed: Bool { sim_tls_is_resumed(tls) == 1 }

    func read() async throws(WireError) -> [UInt8] {
        while true {
            let count = sim_tls_read(tls, &buffer, Int32(buffer.count))
            let decrypted = count > 0 ? Array(buffer.prefix(Int(count))) : []
            try await passOn()
            if count > 0 { return decrypted }
            if count == -1 { return [] }
            guard count == 0, !hasEnded else { throw .broken }
            let bytes = try await below.read()
            if bytes.isEmpty { hasEnded = true }
            bytes.withUnsafeBytes { sim_tls_feed(tls, $0.baseAddress, $0.count) }
        }
    }

    func write(_ bytes: [UInt8]) async throws(WireError) {
        var start = 0
        while start < bytes.count {
            let part = Array(bytes[start..<min(bytes.count, start + 16384)])
            guard sim_tls_write(tls, part, Int32(part.count)) == 1 else { throw .broken }
            start += part.count
            try await passOn()
        }
    }

    func flood(_ piece: [UInt8], count: Int) async throws(WireError) {
        let bytes = Array(repeatElement(piece, count: max(1, 16384 / piece.count)).joined())
        var left = min(count, 400_000)
        while left > 0 {
            try await write(bytes)
            left -= bytes.count
        }
        await close(politely: true)
    }

    /// Asks the client to change keys as well.
    func updateKeys() async throws(WireError) {
        sim_tls_update_keys(tls)
    }

    func close(politely: Bool) async {
        if politely {
            sim_tls_close(tls)
            try? await passOn()
        }
        await below.close(politely: politely)
    }

    private func passOn() async throws(WireError) {
        if let pause = ticketPause, isEstablished {
            ticketPause = nil
            let count = sim_tls_take_record(tls, &buffer, Int32(buffer.count))
            if count > 0 {
                try await below.write(Array(buffer.prefix(Int(count))))
                kernel.count("fault: half a session ticket")
                await kernel.sleep(microseconds: pause)
            }
        }
        while true {
            let count = sim_tls_take(tls, &buffer, Int32(buffer.count))
            guard count > 0 else { return }
            var bytes = Array(buffer.prefix(Int(count)))
            // The message of type 11 has three lengths, and then a sequence.
            if isMalformed, let start = bytes.indices.dropLast(12).first(where: { bytes[$0] == 11 }) {
                bytes[start + 10] ^= 1
                isMalformed = false
            }
            try await below.write(bytes)
        }
    }
}
