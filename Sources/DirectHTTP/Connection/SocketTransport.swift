internal import DirectIO
internal import DirectTLS

extension Socket {
    /// The seam between TLS and the socket. The socket must outlive the TLS connection.
    var transport: TLSTransport {
        unsafe TLSTransport(
            context: Unmanaged.passUnretained(self).toOpaque(),
            read: { context, target, count in
                guard let context = unsafe context else { return TLSTransport.failure(errno: 0) }
                return unsafe Unmanaged<Socket>.fromOpaque(context)._withUnsafeGuaranteedRef { socket in
                    unsafe answer(socket.receive(into: target, count: count))
                }
            },
            write: { context, source, count in
                guard let context = unsafe context else { return TLSTransport.failure(errno: 0) }
                return unsafe Unmanaged<Socket>.fromOpaque(context)._withUnsafeGuaranteedRef { socket in
                    unsafe answer(socket.send(source, count: count))
                }
            }
        )
    }
}

private func answer(_ outcome: Socket.Outcome) -> Int {
    switch outcome {
    case .moved(let count): count
    case .endOfStream: TLSTransport.endOfStream
    case .wouldBlock: TLSTransport.wouldBlock
    case .failed(let code): TLSTransport.failure(errno: code)
    }
}
