internal import DirectCore
package import DirectHTTP1

/// The credentials of one request, or of one tunnel: made in advance, in answer to challenges, and anew for
/// each further time that the request is sent.
///
/// A server may take an answer to its challenge for a replay if it comes twice: each has a count (RFC 7616,
/// section 3.4).
package final class RenewedCredentials: Sendable {
    /// Returns a value; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - refusal: the fields of the response with a challenge; `nil` in advance.
    ///   - refused: the value that was sent; `nil` if there was none.
    package typealias Source =
        @Sendable (
            _ refusal: HTTPHeaders?,
            _ refused: [UInt8]?
        ) async throws -> [UInt8]?

    /// The side that asks for them.
    package let challenger: Challenger
    private let source: Source
    private let accepted: @Sendable () -> Void
    /// The value that was made last, and the number of challenges that are still answered: a wrong password
    /// stays wrong, but a nonce may have expired.
    private let state = Locked<(value: [UInt8]?, answersLeft: Int)>((nil, 2))

    /// Creates credentials.
    ///
    /// - Parameter accepted: called when the value that was made last has been accepted.
    package init(
        for challenger: Challenger,
        accepted: @escaping @Sendable () -> Void,
        _ source: @escaping Source
    ) {
        self.challenger = challenger
        self.accepted = accepted
        self.source = source
    }

    /// Notes that the side that asked for them has let the request pass.
    package func accept() {
        accepted()
    }

    /// The value that was made last; `nil` if there was none.
    package var latest: [UInt8]? { state.withLock { $0.value } }

    /// Makes a new value. `nil` if the source has none, and if it has answered enough challenges.
    ///
    /// - Parameters:
    ///   - refusal: the fields of the response with a challenge; `nil` to make a value in advance.
    ///   - ask: runs the source, which is code from outside the package, and bounds the wait for it.
    package func renew<Failure>(
        after refusal: HTTPHeaders? = nil,
        by ask: (@escaping @Sendable () async throws -> [UInt8]?) async throws(Failure) -> [UInt8]?
    ) async throws(Failure) -> [UInt8]? {
        if refusal != nil, !takeAnswer() { return nil }
        let (source, refused) = (source, latest)
        guard let value = try await ask({ try await source(refusal, refused) }) else { return nil }
        state.withLock { $0.value = value }
        return value
    }

    /// Whether one more challenge may be answered.
    private func takeAnswer() -> Bool {
        state.withLock { state in
            guard state.answersLeft > 0 else { return false }
            state.answersLeft -= 1
            return true
        }
    }
}

/// The side that asks for credentials (RFC 9110, sections 11.6 and 11.7).
package enum Challenger: Sendable {
    case origin, proxy

    /// The status of a response with a challenge.
    package var status: HTTPStatus { self == .origin ? .unauthorized : .proxyAuthenticationRequired }

    /// The field with the credentials.
    package var field: String { self == .origin ? "Authorization" : "Proxy-Authorization" }
}

/// Makes the credentials for one proxy.
package protocol ProxyAuthorizer: Sendable {
    /// Returns the credentials for one request, or for one tunnel.
    ///
    /// - Parameters:
    ///   - target: the target in the request line, as the proxy reads it.
    ///   - body: the body of the request; `nil` if it is not in memory.
    func credentials(method: HTTPMethod, target: String, body: [UInt8]?) -> RenewedCredentials
}
