internal import DirectCore
internal import DirectIO

/// The marks of all URLs of a cache folder, in one file that its processes share.
///
/// A removal replaces the mark, by one call of the system. Each response has the mark that was there when its
/// request was sent, and one with another mark is not used. So no response from before a change is used after
/// it, at whatever call a process is killed or stopped, and nothing has to be locked.
///
/// A removal counts from its beginning, before any call that may hang, and one that fails is repeated before
/// the next use of the mark. Until it succeeds, no response of the URL is used.
final class CacheMarks: Sendable {
    private let numbers: StateNumbers
    private let pending = Locked(Pending())
    /// Locked while a mark is replaced, on a disk that may hang.
    private let replacing = Locked(())
    /// Locked while a mark is made, so that threads that begin at once do not replace each other's.
    private let making = Locked(())

    /// The removals that have begun, and not succeeded yet.
    private struct Pending {
        /// The number of the latest removal, by slot.
        var slots: [UInt16: UInt64] = [:]
        /// The number of the latest removal of all marks.
        var all: UInt64?
        private var last: UInt64 = 0

        mutating func next() -> UInt64 {
            last += 1
            return last
        }
    }

    static let fileName = "direct-http-cache-marks"

    private init(_ folder: StateFolder) {
        numbers = StateNumbers(Self.fileName, in: folder)
    }

    /// Returns the mark of a URL; `nil` if it has none.
    func mark(of key: CacheKey) throws(SystemError) -> CacheMark? {
        let pending = pending.withLock { $0 }
        if pending.all != nil { try removeAll() }
        if pending.slots[key.slot] != nil { try replace(key) }
        return try numbers.number(at: Int(key.slot)).map(CacheMark.init)
    }

    /// Returns the mark of a URL, and makes one if it has none.
    func make(for key: CacheKey) throws(SystemError) -> CacheMark? {
        try making.withLock { _ throws(SystemError) in
            if let known = try mark(of: key) { return known }
            try numbers.set(SystemRandom.word(), at: Int(key.slot))
            // Another process may have made one at the same time.
            return try mark(of: key)
        }
    }

    /// Notes that ``replace(_:)`` follows: from now on no response of the URL is used before it has
    /// succeeded. Does not block.
    func willReplace(_ key: CacheKey) {
        pending.withLock { $0.slots[key.slot] = $0.next() }
    }

    /// Gives a URL a mark that no response has. Without a mark it has no response either.
    func replace(_ key: CacheKey) throws(SystemError) {
        let number = pending.withLock { pending in
            let number = pending.slots[key.slot] ?? pending.next()
            pending.slots[key.slot] = number
            return number
        }
        try replacing.withLock { _ throws(SystemError) in
            guard try numbers.number(at: Int(key.slot)) != nil else { return }
            try numbers.set(SystemRandom.word(), at: Int(key.slot), settles: true)
        }
        pending.withLock { pending in
            if pending.slots[key.slot] == number { pending.slots[key.slot] = nil }
        }
    }

    /// Notes that ``removeAll()`` follows, as ``willReplace(_:)`` does.
    func willRemoveAll() { pending.withLock { $0.all = $0.next() } }

    /// Removes all marks.
    func removeAll() throws(SystemError) {
        let number = pending.withLock { pending in
            let number = pending.all ?? pending.next()
            pending.all = number
            return number
        }
        try replacing.withLock { _ throws(SystemError) in try numbers.removeAll() }
        pending.withLock { pending in
            if pending.all == number { pending.all = nil }
            pending.slots = pending.slots.filter { $0.value > number }
        }
    }
}

extension CacheMarks {
    /// The marks of this folder, the same object for all caches of the process as long as one of them is in
    /// use: each knows of the removals that have failed in another.
    static func of(_ folder: StateFolder) -> CacheMarks {
        known.withLock { known in
            if let marks = known[folder.identity]?.marks { return marks }
            known = known.filter { $0.value.marks != nil }
            let marks = CacheMarks(folder)
            known[folder.identity] = Known(marks: marks)
            return marks
        }
    }

    private static let known = Locked<[StateFolder.Identity: Known]>([:])

    private struct Known {
        weak var marks: CacheMarks?
    }
}
