package import DirectIO
package import DirectTLS

extension Socket {
    /// Waits until the connection is established or has failed.
    package func waitUntilConnected(_ deadline: Deadline) async throws(TransportError) {
        let wake = await output.wait(until: deadline.instant, on: loop)
        if wake == .cancelled { throw .cancelled }
        do throws(SystemError) {
            try finishConnecting()
        } catch {
            throw .failed(.connect, .system(error))
        }
        // The peer may have answered in time although this task runs after the deadline.
        if wake == .expired, !isConnected { throw deadline.timeout }
    }
}

extension TLSLayer {
    /// Performs the handshake over the socket. After the deadline it is continued once more: input may have arrived in
    /// time although this task runs late.
    package func shakeHands(over socket: Socket, _ deadline: Deadline) async throws(TransportError) {
        var isLate = false
        while true {
            let point: WaitPoint?
            switch handshake() {
            case .done: return
            case .wantsRead: point = socket.input
            case .wantsWrite: point = socket.output
            case .again: point = nil
            case .failed(let error): throw .failed(.tls, .tls(error))
            }
            do throws(TransportError) {
                if let point {
                    try deadline.check(await point.wait(until: deadline.instant, on: socket.loop))
                } else {
                    try await deadline.takeTurn(on: socket.loop)
                }
            } catch {
                guard error.isTimeout, !isLate else { throw error }
                isLate = true
            }
        }
    }
}
