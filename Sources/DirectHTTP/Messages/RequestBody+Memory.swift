internal import DirectIO
internal import DirectTransport

extension RequestBody {
    /// The bytes of the body, none if there is no body; `nil` if they would have to be read from a source
    /// first, as those of a stream or a file.
    public var bytesInMemory: [UInt8]? {
        switch content {
        case .none: []
        case .bytes(let bytes): bytes
        case .stream: nil
        }
    }

    /// Returns the bytes of the body, read from its source if it has one.
    ///
    /// This is for a mock that checks what it was sent. A stream that can be read once cannot be sent
    /// afterwards: an interceptor calls ``HTTPClient/Request/collectBody(upTo:)``, which keeps the bytes for
    /// sending.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Reason/bodyTooLarge(limit:)`` if there are more than `limit`
    ///   bytes, ``HTTPError/Reason/requestBody(_:)`` if the body has been read before and can be read once,
    ///   or ``HTTPError/Reason/bodySource(_:)`` if its source fails.
    @concurrent
    public func collect(upTo limit: Int) async throws -> [UInt8] {
        guard case .stream(let body) = content else {
            let bytes = bytesInMemory ?? []
            guard bytes.count <= limit else { throw HTTPError(.request, .bodyTooLarge(limit: limit)) }
            return bytes
        }
        do {
            return try await body.collect(upTo: limit)
        } catch let error as HTTPError {
            throw error
        } catch TransportError.failed(_, let reason) {
            throw HTTPError(.request, HTTPError.Reason(reason))
        } catch let fault as RequestBodyError {
            throw HTTPError(.request, .requestBody(fault))
        } catch let error as SystemError {
            throw HTTPError(.request, .system(error))
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            throw HTTPError(.request, .bodySource(error))
        }
    }

    /// Returns a body of these bytes in place of this one, with its content type and its trailers.
    func holding(_ bytes: [UInt8]) -> RequestBody {
        var held = RequestBody(.bytes(bytes), contentType: contentType)
        held.isGzipped = isGzipped
        guard case .stream(let body) = content, let trailers = body.trailers else { return held }
        return held.followed(by: trailers)
    }
}

extension Request {
    /// Returns the bytes of the body, read from its source if it has one, and keeps them as the body: the
    /// request can be sent afterwards, also more than once.
    ///
    /// - Throws: the errors of ``RequestBody/collect(upTo:)``. The body is unchanged then. If it can be read
    ///   once and reading has begun, it cannot be sent any more; a length that is known and too large is
    ///   refused before that.
    @concurrent
    @discardableResult
    public mutating func collectBody(upTo limit: Int) async throws -> [UInt8] {
        let bytes = try await body.collect(upTo: limit)
        if body.bytesInMemory == nil { body = body.holding(bytes) }
        return bytes
    }
}

extension StreamedBody {
    /// Reads the body from its source. A length that is too large is refused before anything is read.
    fileprivate func collect(upTo limit: Int) async throws -> [UInt8] {
        let tooLarge = HTTPError(.request, .bodyTooLarge(limit: limit))
        let length = try await measure(on: .shared, until: .never)
        if let length, length > UInt64(max(0, limit)) { throw tooLarge }
        let source = try await open(.shared)
        var bytes: [UInt8] = []
        while let piece = try await source.next() {
            try Task.checkCancellation()
            guard bytes.count + piece.count <= limit else { throw tooLarge }
            bytes += piece
        }
        return bytes
    }
}
