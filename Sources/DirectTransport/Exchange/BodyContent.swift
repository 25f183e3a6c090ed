/// The content of a request's body.
package enum BodyContent: Sendable {
    case none
    case bytes([UInt8])
    case stream(StreamedBody)
}
