/// The content of a request's body.
package enum BodyContent: Sendable {
    case none
    case bytes([UInt8])
    case stream(StreamedBody)

    /// Whether the content can be sent more than once.
    package var isReplayable: Bool {
        if case .stream(let body) = self { body.isReplayable } else { true }
    }
}
