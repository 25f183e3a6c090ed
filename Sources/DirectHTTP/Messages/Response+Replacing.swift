public import DirectHTTP1

/// Responses that an interceptor makes of others.
extension HTTPClient.Response {
    /// Returns the response with another body. Everything else is kept, except the fields that describe the
    /// former body on the wire: `Content-Encoding` and `Transfer-Encoding` are removed, and `Content-Length`
    /// is that of the new body, or is left out where nothing shows that the former one was whole, so that no
    /// cache stores it. Trailers are kept if the former body has been read to its end.
    ///
    /// The former body is given up when it is released: read it before, or its connection is closed.
    public func replacing(body bytes: [UInt8]) -> HTTPClient.Response {
        var fields = headers.withoutBodyFraming
        if transaction == nil || headers.showEnd(of: status, at: url) {
            fields["Content-Length"] = "\(bytes.count)"
        }
        return replacing(ResponseBody(content: .complete(bytes, body.trailers, nil)), fields)
    }

    /// Returns the response with a sequence as its body. See ``replacing(body:)``. The sequence may read the
    /// former body piece by piece; if that has been read to its end by the end of the sequence, its trailers
    /// are those of the new body. The time limits are those of ``init(to:_:headers:stream:)``.
    public func replacing(stream: some AsyncSequence<[UInt8], some Error> & Sendable) -> HTTPClient.Response {
        let source = SequenceSource(stream, name: url.host.description, inPlaceOf: body.content)
        return replacing(ResponseBody(content: .arriving(GuardedBody(source))), headers.withoutBodyFraming)
    }

    /// Returns the response with other header fields. In a network interceptor they decide on decoding,
    /// cookies and storing, as if the server had sent them.
    public func replacing(headers: HTTPHeaders) -> HTTPClient.Response {
        replacing(body, headers)
    }

    /// The response without the fields of codings that another client has undone.
    var withoutUndoneCodings: HTTPClient.Response {
        guard case .undone = body.coding else { return self }
        var response = replacing(body, headers.withoutBodyFraming)
        response.body.coding = .none
        return response
    }

    /// Returns the response with its own body, which has been read whole: it can be given to several readers.
    package func holding(whole bytes: [UInt8]) -> HTTPClient.Response {
        var response = self
        response.body.content = .complete(bytes, body.trailers, nil)
        return response
    }

    private func replacing(_ body: ResponseBody, _ headers: HTTPHeaders) -> HTTPClient.Response {
        let head = ResponseHead(status: status, reason: reason, version: version, headers: headers)
        var response = HTTPClient.Response(head: head, body: body, url: url, transaction: transaction)
        response.body.request = self.body.request
        response.history = history
        response.retryStop = retryStop
        response.cacheUse = cacheUse
        return response
    }
}

extension HTTPHeaders {
    fileprivate var withoutBodyFraming: HTTPHeaders {
        var headers = self
        for name in ["Content-Encoding", "Transfer-Encoding", "Content-Length"] { headers.remove(name) }
        return headers
    }
}
