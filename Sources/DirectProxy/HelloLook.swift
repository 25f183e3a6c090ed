internal import DirectHello

/// A look at the first bytes of a program in its tunnel, as long as they may be a ClientHello.
final class HelloLook {
    /// The fate of the bytes.
    enum Answer {
        /// They are sent on.
        case passes
        /// They are held until more is known.
        case waits
        /// The program goes to another server than it has told: the tunnel ends.
        case refuses
    }

    /// The last ClientHello; `nil` while it is not whole, and if the bytes are something else.
    private(set) var hello: ClientHello?
    /// The other server that the program names, if it is refused for that.
    private(set) var other: String?
    private var flight = FirstFlight()
    private let name: String
    private let insists: Bool

    /// - Parameter insists: Whether the tunnel ends if the program names another server than this one.
    init(for name: String, insists: Bool) {
        (self.name, self.insists) = (name, insists)
    }

    /// Takes bytes on their way. Once it is done they need not be shown any more.
    func take(_ bytes: UnsafeRawBufferPointer) -> (answer: Answer, isDone: Bool) {
        var position = 0
        while position < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[position...])
            switch unsafe flight.add(rest.assumingMemoryBound(to: UInt8.self).span) {
            case .needsMore: return (insists && flight.hasBegun ? .waits : .passes, false)
            case .other: return (.passes, true)
            case .otherMessage where hello != nil: return (.passes, true)
            // The target may be able to read it.
            case .otherMessage, .unreadable: return (insists ? .refuses : .passes, true)
            case .hello(let hello):
                self.hello = hello
                guard insists else { return (.passes, true) }
                if let other = hello.serverName, other != name {
                    self.other = other
                    return (.refuses, true)
                }
                // A server may ask for a second one (HelloRetryRequest), and go by its name.
                position += flight.used
                flight = FirstFlight(behindHello: true)
            }
        }
        return (.passes, false)
    }
}
