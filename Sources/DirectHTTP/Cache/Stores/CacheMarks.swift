internal import DirectCore
internal import DirectIO

/// The marks of all URLs of a cache folder, in one file that its processes share.
///
/// A removal replaces the mark, by one call of the system. Each response has the mark that was there when its
/// request was sent, and one with another mark is not used. So no response from before a change is used after
/// it, at whatever call a process is killed or stopped, and nothing has to be locked.
///
/// A removal that fails is repeated before the next use of the mark. Until it succeeds, no response of the
/// URL is used.
final class CacheMarks: Sendable {
    private let numbers: StateNumbers
    /// The removals that have failed. Locked while one takes place.
    private let failed = Locked(Failed())
    /// Locked while a mark is made, so that threads that begin at once do not replace each other's.
    private let making = Locked(())

    private struct Failed {
        var slots: Set<UInt16> = []
        /// Whether the removal of all marks has failed.
        var isAll = false
    }

    static let fileName = "marks"

    init(_ folder: StateFolder) {
        numbers = StateNumbers(Self.fileName, in: folder)
    }

    /// Returns the mark of a URL; `nil` if it has none.
    func mark(of key: CacheKey) throws(SystemError) -> CacheMark? {
        let failed = failed.withLock { $0 }
        if failed.isAll { try removeAll() }
        if failed.slots.contains(key.slot) { try replace(key) }
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

    /// Gives a URL a mark that no response has. Without a mark it has no response either.
    func replace(_ key: CacheKey) throws(SystemError) {
        try failed.withLock { failed throws(SystemError) in
            failed.slots.insert(key.slot)
            if try numbers.number(at: Int(key.slot)) != nil {
                try numbers.set(SystemRandom.word(), at: Int(key.slot), settles: true)
            }
            failed.slots.remove(key.slot)
        }
    }

    /// Removes all marks.
    func removeAll() throws(SystemError) {
        try failed.withLock { failed throws(SystemError) in
            failed.isAll = true
            try numbers.removeAll()
            failed = Failed()
        }
    }
}
