internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Checks of a request that need no connection, made before anything is resolved or dialled for it.
extension ClientCore {
    /// Throws if the head of the request is invalid, or if its body cannot be framed.
    func check(
        _ request: Request,
        trail: Trail?,
        url: HTTPURL,
        over proxy: ProxyEntry?,
        within limit: CallLimit
    ) async throws(DialFailure) {
        do throws(TransportError) {
            try request.checkHead(url, defaults: defaults(for: request, trail), isProxied: proxy != nil)
            guard case .stream(let body) = request.body.content else { return }
            _ = try await body.framing(on: configuration.loop, within: limit)
        } catch {
            throw DialFailure(cause: error)
        }
    }
}

extension Request {
    /// Writes the head to a scratch buffer: the writer checks every byte of it.
    fileprivate func checkHead(_ url: HTTPURL, defaults: HTTPHeaders, isProxied: Bool)
        throws(TransportError)
    {
        var headers = completedHeaders(defaults)
        // Proxy credentials are not sent to a server, so they need not be valid there.
        if isProxied || !method.isConnect { headers.remove("Proxy-Authorization") }
        let target = method.isConnect ? url.tunnelBytes : url.targetBytes
        let authority = method.isConnect ? target : url.authorityBytes
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
                upgrade: !upgrade.isEmpty,
                into: buffer
            )
        } catch {
            throw .failed(.request, .http(error))
        }
    }
}
