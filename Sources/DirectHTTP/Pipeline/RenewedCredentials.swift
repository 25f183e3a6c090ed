internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The credentials of one request, made anew for each time that it is sent.
///
/// A server may take an answer to its challenge for a replay if it comes twice: each has a count (RFC 7616, section 3.4).
final class RenewedCredentials: Sendable {
    private let field: String
    private let make: @Sendable () async throws -> String?
    private let made = Locked<[String]>([])

    /// - Parameters:
    ///   - field: The name of the field.
    ///   - make: Returns the field's next value; `nil` if there is none.
    init(in field: String, _ make: @escaping @Sendable () async throws -> String?) {
        self.field = field
        self.make = make
    }

    /// The value that was made last; `nil` if there was none.
    var latest: String? { made.withLock { $0.last } }

    /// Puts a new value into the fields. If the authenticator has none, they keep the one that they have.
    func renew(_ headers: inout HTTPHeaders) async throws {
        if let value = try await make() { set(value, in: &headers) }
    }

    /// Puts this value into the fields.
    func set(_ value: String, in headers: inout HTTPHeaders) {
        made.withLock { $0.append(value) }
        headers[field] = value
    }

    /// Puts a new value into the fields, unless other code, such as an interceptor, has replaced the former one.
    fileprivate func renewOwn(_ headers: inout HTTPHeaders) async throws {
        guard let value = headers[field], made.withLock({ $0.contains(value) }) else { return }
        try await renew(&headers)
    }
}

extension Call {
    /// Puts new credentials into a request that is sent once more, if an authenticator made the former ones.
    func renewCredentials(of request: inout Request) async throws {
        try await credentials?.renew(&request.headers)
    }

    /// Returns what renews the credentials of a request that the transport sends once more; `nil` if no authenticator
    /// made any.
    @inline(__always)
    var renewal: CredentialRenewal? { hasNotes ? CredentialRenewal(of: self) : nil }
}

/// Renews the credentials of a request that the transport sends once more, because its connection was dead.
final class CredentialRenewal: Sendable {
    private let credentials: [RenewedCredentials]
    private let failure = Locked<(any Error)?>(nil)

    /// `nil` if no authenticator made credentials.
    @inline(never)
    fileprivate init?(of call: Call) {
        credentials = [call.credentials, call.proxyCredentials].compactMap { $0 }
        if credentials.isEmpty { return nil }
    }

    /// The error of an authenticator: the transport's own error cannot carry it.
    var error: (any Error)? { failure.withLock { $0 } }

    /// Returns the fields with new credentials.
    @Sendable
    func renewedFields(_ former: HTTPHeaders) async throws(TransportError) -> HTTPHeaders {
        var headers = former
        do {
            for credentials in credentials { try await credentials.renewOwn(&headers) }
        } catch {
            failure.withLock { $0 = error }
            throw .cancelled
        }
        return headers
    }
}
