internal import DirectCore
package import DirectIO
package import DirectTLS

extension Socket {
    /// The transport of TLS over the socket.
    package var transport: TLSTransport {
        unsafe TLSTransport(
            owner: self,
            read: { owner, target, count in
                unsafe Unmanaged<Socket>.fromOpaque(owner)._withUnsafeGuaranteedRef { socket in
                    unsafe socket.receive(into: target, count: count).transportResult
                }
            },
            write: { owner, source, count in
                unsafe Unmanaged<Socket>.fromOpaque(owner)._withUnsafeGuaranteedRef { socket in
                    unsafe socket.send(source, count: count).transportResult
                }
            }
        )
    }
}

extension TLSLayer {
    /// The transport of TLS over this TLS connection, which is the one to a proxy.
    package var transport: TLSTransport {
        unsafe TLSTransport(
            owner: self,
            read: { owner, target, count in
                unsafe Unmanaged<TLSLayer>.fromOpaque(owner)._withUnsafeGuaranteedRef { below in
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
            write: { owner, source, count in
                unsafe Unmanaged<TLSLayer>.fromOpaque(owner)._withUnsafeGuaranteedRef { below in
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

extension TLSLayer {
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

extension Socket.Outcome {
    /// The number that stands for this result in a ``TLSTransport``.
    package var transportResult: Int {
        switch self {
        case .moved(let count): count
        case .endOfStream: TLSTransport.endOfStream
        case .wouldBlock: TLSTransport.wouldBlock
        case .failed(let code): TLSTransport.failure(errno: code)
        }
    }
}
