internal import DirectHello
internal import DirectIO

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

    /// The ClientHello; `nil` while it is not whole, and if the bytes are something else.
    private(set) var hello: ClientHello?
    private var flight = FirstFlight()
    private let name: String
    private let insists: Bool

    /// - Parameter insists: Whether the tunnel ends if the program names another server than this one.
    init(for name: String, insists: Bool) {
        (self.name, self.insists) = (name, insists)
    }

    /// Takes bytes on their way. After an answer other than `waits` to insistence they need not be shown
    /// any more.
    func take(_ bytes: UnsafeRawBufferPointer) -> (answer: Answer, isDone: Bool) {
        switch unsafe flight.add(bytes.assumingMemoryBound(to: UInt8.self).span) {
        case .needsMore: return (insists ? .waits : .passes, false)
        case .other: return (.passes, true)
        // The target may be able to read it.
        case .unreadable: return (insists ? .refuses : .passes, true)
        case .hello(let hello):
            self.hello = hello
            let isOther = hello.serverName.map { $0 != name } ?? false
            return (insists && isOther ? .refuses : .passes, true)
        }
    }
}
