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

    /// The last ClientHello; `nil` while it is not whole, and if the bytes are something else.
    private(set) var hello: ClientHello?
    /// The other server that the program names, if it is refused for that.
    private(set) var other: String?
    private var flight = FirstFlight()
    private let name: String
    private let insists: Bool
    /// Whether a ClientHello has been read, and no other one begins. A server may ask for a second one
    /// (HelloRetryRequest), and go by its name.
    private var isBetween = false
    /// The head of a record that is passed over, its bytes that are still to come, and those of all.
    private var head: [UInt8] = []
    private var (left, passedOver) = (0, 0)

    /// - Parameter insists: Whether the tunnel ends if the program names another server than this one.
    init(for name: String, insists: Bool) {
        (self.name, self.insists) = (name, insists)
    }

    /// Takes bytes on their way. Once it is done they need not be shown any more.
    func take(_ bytes: UnsafeRawBufferPointer) -> (answer: Answer, isDone: Bool) {
        var position = 0
        while position < bytes.count {
            if isBetween {
                guard let next = unsafe passOver(bytes, from: position) else { return (.passes, true) }
                position = next
                continue
            }
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[position...])
            switch unsafe flight.add(rest.assumingMemoryBound(to: UInt8.self).span) {
            case .needsMore: return (insists ? .waits : .passes, false)
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
                position += flight.used
                (flight, isBetween) = (FirstFlight(), true)
            }
        }
        return (.passes, false)
    }

    /// Passes over records behind a ClientHello that are none of a handshake in the clear. Returns the next
    /// position; `nil` if no other ClientHello is to be expected.
    private func passOver(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        if left > 0 {
            let count = min(left, bytes.count - start)
            left -= count
            return start + count
        }
        let byte = unsafe bytes[start]
        if head.isEmpty {
            if byte == FirstFlight.handshake {
                isBetween = false
                return start
            }
            guard FirstFlight.recordTypes.contains(byte) else { return nil }
        }
        head.append(byte)
        if head.count == FirstFlight.headSize {
            left = Int(head[3]) << 8 | Int(head[4])
            passedOver += left
            head = []
        }
        return passedOver > Self.mostPassedOver ? nil : start + 1
    }

    /// Several times the data that servers take before the handshake is complete.
    private static let mostPassedOver = 1 << 16
}
