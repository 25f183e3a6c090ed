package import DirectCore
package import DirectHTTP1
internal import DirectIO

/// Checks that need no connection, made before anything is resolved or dialled for a request.
extension Transport {
    /// Throws if the head of the request is invalid, if its body cannot be framed, or if its method permits
    /// none.
    package func check(
        method: HTTPMethod,
        url: HTTPURL,
        headers: HTTPHeaders,
        defaults: HTTPHeaders,
        body: BodyContent,
        options: ExchangeOptions.Box?,
        over proxy: ProxyEntry?,
        within limit: CallLimit
    ) async throws(DialFailure) {
        do throws(TransportError) {
            var headers = headers
            // Proxy credentials are not sent to a server, so they need not be valid there.
            if proxy != nil || !method.isConnect { headers.remove("Proxy-Authorization") }
            try Self.checkHead(
                method: method,
                url: url,
                headers: headers,
                defaults: defaults,
                isUpgrade: options?.options.upgrade.isEmpty == false
            )
            let framing = try await framing(of: body, within: limit)
            if framing.hasContent, method == .trace { throw .failed(.request, .http(.contentInTrace)) }
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
    private static func checkHead(
        method: HTTPMethod,
        url: HTTPURL,
        headers: HTTPHeaders,
        defaults: HTTPHeaders,
        isUpgrade: Bool
    ) throws(TransportError) {
        let (target, authority) = url.targetAndAuthority(of: method, isForwarded: false)
        let bound = RequestWriter.headSizeBound(
            method: method,
            target: target,
            authority: authority,
            headers: headers,
            extra: defaults
        )
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bound, alignment: 1)
        defer { unsafe buffer.deallocate() }
        do throws(HTTP1Error) {
            _ = try unsafe RequestWriter.writeHead(
                method: method,
                target: target,
                authority: authority,
                headers: headers,
                extra: defaults,
                framing: .none,
                upgrade: isUpgrade,
                into: buffer
            )
        } catch {
            throw .failed(.request, .http(error))
        }
    }
}
