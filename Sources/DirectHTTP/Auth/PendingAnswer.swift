internal import DirectCore
internal import DirectHTTP1

/// The answer to a challenge that one request carries, until the server has judged it.
///
/// It travels with the `AuthenticationRequest`, so that an ``Authenticator`` around another one need not know
/// of it.
final class PendingAnswer: Sendable {
    private struct State {
        var value: [UInt8] = []
        var use: DigestUse?
        var accept: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// The nonce of the answer and its count; `nil` without an answer by Digest.
    var use: DigestUse? { state.withLock { $0.use } }

    /// Notes an answer by Digest, and returns it as text.
    ///
    /// - Parameter accept: called if the server accepts the answer.
    func note(_ value: [UInt8], _ use: DigestUse, ifAccepted accept: @escaping @Sendable () -> Void) -> String
    {
        state.withLock { $0 = State(value: value, use: use, accept: accept) }
        return String(fieldText: value)
    }

    /// The bytes of a text that an authenticator has returned. An answer repeats bytes of the challenge,
    /// which need not be UTF-8.
    func bytes(of text: String) -> [UInt8] {
        let value = state.withLock { $0.value }
        return String(fieldText: value) == text ? value : Array(text.utf8)
    }

    /// Notes that the server has let the request pass.
    func accept() {
        state.withLock { $0.accept }?()
    }
}
