internal import DirectHTTP1

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
}

extension HTTPMethod {
    /// Whether a request with this method and body may be sent twice (RFC 9110, section 9.2.2; RFC 9112,
    /// section 9.3.1).
    @inline(__always)
    func mayBeSentTwice(with body: BodyContent) -> Bool { isIdempotent && body.isReplayable }

    /// Whether a request with this method and body, which was sent once or in part, may be sent again.
    func mayBeSentAgain(with body: BodyContent) -> Bool { isIdempotent && body.canBeSent }
}
