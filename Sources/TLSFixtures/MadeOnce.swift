/// Values by key, each made once, however many threads ask for it. Who asks for one waits while it is made,
/// and for no other.
package final class MadeOnce<Key: Hashable, Value>: @unchecked Sendable {
    // The bell's lock guards both.
    private var made: [Key: Value] = [:]
    private var inTheMaking: Set<Key> = []

    package init() {}

    /// Returns the value of a key. If there is none yet, `make` makes it on this thread. Where `make` throws,
    /// the next one who asks tries again.
    ///
    /// - Parameter keeps: Whether to keep a new value, given the count of those that are kept. It must not
    ///   block.
    package func value<Failure>(
        for key: Key,
        keeping keeps: (Value, Int) -> Bool = { _, _ in true },
        _ make: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var known: Value?
        Bell.wait {
            known = made[key]
            return known != nil || inTheMaking.insert(key).inserted
        }
        if let known { return known }
        var new: Value?
        defer {
            Bell.ring {
                inTheMaking.remove(key)
                if let new, keeps(new, made.count) { made[key] = new }
            }
        }
        let value = try make()
        new = value
        return value
    }
}
