package import DirectHTTP1
package import DirectIO

/// The content of a request's body.
package enum BodyContent: Sendable {
    case none
    case bytes([UInt8])
    case stream(StreamedBody)

    /// Whether the content can be sent more than once.
    package var isReplayable: Bool {
        if case .stream(let body) = self { body.isReplayable } else { true }
    }

    /// Whether the content can be sent now: more than once, or once and no piece of it was asked for yet, as
    /// after a refusal of `Expect: 100-continue`.
    package var canBeSent: Bool {
        if case .stream(let body) = self { body.canBeSent } else { true }
    }

    /// Small bodies are sent in the same record as the head.
    var bytesWorthSendingAtOnce: Int {
        if case .bytes(let bytes) = self { min(bytes.count, 14 * 1024) } else { 0 }
    }

    /// Returns the framing. Asks a stream for its length, which may read from the disk.
    package func framing(on loop: EventLoop, within limit: CallLimit) async throws(TransportError)
        -> BodyFraming
    {
        let body: StreamedBody
        switch self {
        case .none: return .none
        case .bytes(let bytes): return .length(UInt64(bytes.count))
        case .stream(let stream): body = stream
        }
        do {
            return try await body.measure(on: loop, until: limit.end).map(BodyFraming.length) ?? .chunked
        } catch let fault as RequestBodyError {
            throw .failed(.request, .requestBody(fault))
        } catch let error as SystemError {
            throw .failed(.request, .system(error))
        } catch BlockingWork.Abandoned.expired {
            throw .failed(.request, limit.timeout)
        } catch {
            throw error is CancellationError && Task.isCancelled
                ? .cancelled : .failed(.request, .bodySource(error))
        }
    }
}

extension HTTPMethod {
    /// Whether a request with this method and body may be sent twice (RFC 9110, section 9.2.2; RFC 9112,
    /// section 9.3.1).
    @inline(__always)
    func mayBeSentTwice(with body: BodyContent) -> Bool { isIdempotent && body.isReplayable }

    /// Whether a request with this method and body, which was sent once or in part, may be sent again.
    func mayBeSentAgain(with body: BodyContent) -> Bool { isIdempotent && body.canBeSent }
}

extension [UInt8] {
    /// Copies as many bytes from the front as fit behind `start`, and returns their number.
    func copyPrefix(to target: UnsafeMutableRawBufferPointer, at start: Int) -> Int {
        let count = Swift.min(self.count, target.count - start)
        guard count > 0 else { return 0 }
        unsafe withUnsafeBytes { bytes in
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[start..<start + count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[0..<count]))
        }
        return count
    }
}
