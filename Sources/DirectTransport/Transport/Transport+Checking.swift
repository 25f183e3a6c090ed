internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// Checks that need no connection, made before anything is resolved or dialled for a request.
extension Transport {
    /// Throws if the head of the request is invalid, if its body cannot be framed, or if its method permits
    /// none.
    package func check(_ request: borrowing OutgoingRequest) async throws(DialFailure) {
        let limit = request.limits.call
        do throws(TransportError) {
            var headers = request.message.headers
            // Proxy credentials are not sent to a server, so they need not be valid there.
            if request.target.proxy != nil || !request.message.method.isConnect {
                headers.remove("Proxy-Authorization")
            }
            try Self.checkHead(of: request, headers: headers)
            let framing = try await framing(of: request.message.body, within: limit)
            if framing.hasContent, request.message.method == .trace {
                throw .failed(.request, .http(.contentInTrace))
            }
        } catch {
            throw DialFailure(cause: error)
        }
    }

    private func framing(of body: BodyContent, within limit: CallLimit) async throws(TransportError)
        -> BodyFraming
    {
        switch body {
        case .none: .none
        case .bytes(let bytes): .length(UInt64(bytes.count))
        case .stream(let body): try await body.framing(on: loop, within: limit)
        }
    }

    /// Writes the head to a scratch buffer: the writer checks every byte of it.
    private static func checkHead(of request: borrowing OutgoingRequest, headers: HTTPHeaders)
        throws(TransportError)
    {
        let (method, defaults) = (request.message.method, request.message.defaults)
        let (target, authority) = request.target.url.targetAndAuthority(of: method, isForwarded: false)
        let head = RequestHead(
            method,
            target: target,
            authority: authority,
            headers: headers,
            extra: defaults
        )
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: head.sizeBound, alignment: 1)
        defer { unsafe buffer.deallocate() }
        do throws(HTTP1Error) {
            _ = try unsafe RequestWriter.writeHead(
                head,
                framing: .none,
                announcing: .init(upgrade: request.message.announcements.upgrade),
                into: buffer
            )
        } catch {
            throw .failed(.request, .http(error))
        }
    }
}
