internal import DirectHTTP1
internal import DirectIO

/// Faults of a request that can be found without a connection: found before anything is resolved or dialled for it.
extension ClientCore {
    /// Throws what is wrong with the request.
    func check(
        _ request: Request,
        _ trail: Trail?,
        _ url: HTTPURL,
        over proxy: ProxyEntry?,
        within limit: CallLimit
    ) async throws(DialFailure) {
        do throws(CallFailure) {
            try request.checkHead(url, defaults(for: request, trail), isProxied: proxy != nil)
            guard case .stream(let body) = request.body.content else { return }
            _ = try await body.framing(on: settings.loop, within: limit)
        } catch {
            throw DialFailure(cause: error)
        }
    }
}

extension Request {
    /// Writes the head to where nobody reads it: the writer looks at every byte.
    fileprivate func checkHead(_ url: HTTPURL, _ defaults: Headers, isProxied: Bool) throws(CallFailure) {
        var headers = completedHeaders(defaults)
        // What is for a proxy goes to no server, and need not be in order then.
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
