internal import CDirectOpenSSL

/// Why OpenSSL did not do what was asked.
enum Stop {
    case wantsRead
    case wantsWrite
    case closeNotify
    case truncated
    case failed(TLSError)
}

extension TLSConnection {
    /// Says why the last call stopped, and leaves this thread's error queue empty.
    func reasonToStop(_ result: Int32) -> Stop {
        switch SSL_get_error(ssl, result) {
        // These two are only answered when the queue is empty.
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN:
            ErrorQueue.clear()
            return .closeNotify
        case SSL_ERROR_SYSCALL: return transportFault()
        default: return protocolFault()
        }
    }

    private func transportFault() -> Stop {
        let code = ErrorQueue.drain()
        if transport.pointee.errno != 0 { return .failed(.connectionLost(errno: transport.pointee.errno)) }
        if transport.pointee.reachedEnd { return .truncated }
        return .failed(.protocolFailure(reason: ErrorQueue.reason(of: code), code: code))
    }

    private func protocolFault() -> Stop {
        let code = ErrorQueue.drain()
        // Whatever the checks of a signature left in the queue before: this is what the handshake ended for.
        if let rejection { return .failed(rejection.error) }
        let reason = ERR_GET_REASON(code)
        guard ERR_GET_LIB(code) == ERR_LIB_SSL else {
            return .failed(.protocolFailure(reason: ErrorQueue.reason(of: code), code: code))
        }
        // OpenSSL gives a received alert the reason 1000 and its number.
        if (SSL_AD_REASON_OFFSET..<SSL_AD_REASON_OFFSET + 256).contains(reason) {
            let number = UInt8(reason - SSL_AD_REASON_OFFSET)
            return .failed(.alertReceived(number: number, name: alertName(number)))
        }
        return .failed(.protocolFailure(reason: ErrorQueue.reason(of: code), code: code))
    }
}
