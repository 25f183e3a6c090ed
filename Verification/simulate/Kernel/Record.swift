/// The record of a run: a hash over everything that happened, and the same as text if it is wanted.
///
/// Two runs of the same world must have the same hash.
struct Record {
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    /// The lines of a readable trace; `nil` if none is wanted.
    private(set) var lines: [String]?

    init(isReadable: Bool) {
        lines = isReadable ? [] : nil
    }

    /// Adds an event.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - time: The virtual time in nanoseconds.
    ///   - place: The number of the connection or of the call.
    ///   - amount: A count that belongs to the event.
    ///   - content: A hash of its bytes.
    mutating func add(
        _ event: StaticString,
        at time: UInt64,
        place: Int = 0,
        amount: Int = 0,
        content: UInt64 = 0
    ) {
        var hash = hash
        for word in [
            time, UInt64(UInt(bitPattern: event.utf8Start)) &- base, UInt64(bitPattern: Int64(place)),
            UInt64(bitPattern: Int64(amount)), content,
        ] {
            hash = (hash ^ word) &* 0x100_0000_01B3
            hash ^= hash >> 29
        }
        self.hash = hash
        explain("\(event) \(place) \(amount)", at: time)
    }

    /// Adds a line to the trace only.
    mutating func explain(_ text: @autoclosure () -> String, at time: UInt64) {
        guard lines != nil else { return }
        let line = "\(Self.microseconds(time)) \(text())"
        lines?.append(line)
    }

    /// Returns a hash of the bytes.
    static func hash(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        var place = 0
        while place + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            hash = (hash ^ word) &* 0x100_0000_01B3
            hash ^= hash >> 32
            place += 8
        }
        while place < bytes.count {
            hash = (hash ^ UInt64(bytes[place])) &* 0x100_0000_01B3
            place += 1
        }
        return hash
    }

    private static func microseconds(_ time: UInt64) -> String {
        let text = String(time / 1000)
        return String(repeating: " ", count: max(0, 10 - text.count)) + text
    }

    /// The names of events are constants of the program, so their distance from one of them identifies them.
    private var base: UInt64 {
        let anchor: StaticString = "record"
        return UInt64(UInt(bitPattern: anchor.utf8Start))
    }
}
