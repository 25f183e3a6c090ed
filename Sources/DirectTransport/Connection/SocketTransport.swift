internal import DirectCore
package import DirectIO
package import DirectTLS

extension Socket {
    /// The transport of TLS over the socket. The socket must outlive the TLS connection.
    package var transport: TLSTransport {
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

extension TLSConnection {
    /// The transport of TLS over this TLS connection, which is the one to a proxy and must outlive the upper one.
    package var transport: TLSTransport {
        unsafe TLSTransport(
            context: Unmanaged.passUnretained(self).toOpaque(),
            read: { context, target, count in
                guard let context = unsafe context else { return TLSTransport.failure(errno: 0) }
                return unsafe Unmanaged<TLSConnection>.fromOpaque(context)._withUnsafeGuaranteedRef { below in
                    switch unsafe below.read(into: UnsafeMutableRawBufferPointer(start: target, count: count))
                    {
                    case .bytes(let count): count
                    case .again: TLSTransport.again
                    // The bytes waited for may answer something that has not been sent yet.
                    case .wantsRead:
                        below.isFlushed ? TLSTransport.wouldBlock : TLSTransport.wouldBlockCrosswise
                    case .wantsWrite: TLSTransport.wouldBlockCrosswise
                    case .closeNotify, .truncated: TLSTransport.endOfStream
                    case .failed(let error): TLSTransport.failure(errno: error.errno)
                    }
                }
            },
            write: { context, source, count in
                guard let context = unsafe context else { return TLSTransport.failure(errno: 0) }
                return unsafe Unmanaged<TLSConnection>.fromOpaque(context)._withUnsafeGuaranteedRef { below in
                    switch unsafe below.write(UnsafeRawBufferPointer(start: source, count: count)) {
                    case .bytes(let count): count
                    case .wantsWrite: TLSTransport.wouldBlock
                    case .wantsRead: TLSTransport.wouldBlockCrosswise
                    case .failed(let error): TLSTransport.failure(errno: error.errno)
                    }
                }
            }
        )
    }
}

extension TLSConnection {
    /// Whether everything has been passed on, after another attempt to do so.
    fileprivate var isFlushed: Bool {
        if case .bytes = flush() { true } else { false }
    }
}

extension TLSError {
    /// The error number for the layer above; 0 if the error did not come from a system call.
    fileprivate var errno: Int32 {
        if case .connectionLost(let errno) = self { errno } else { 0 }
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
