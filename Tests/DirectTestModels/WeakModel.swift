/// A model of threads that share memory. Each step is one access, which has the name and the order of the
/// source's.
package protocol WeakModel: Explorable {
    var memory: WeakMemory { get set }
    /// The orders of the accesses by their texts.
    var orders: [String: MemoryOrder] { get }
}

extension WeakModel {
    package typealias Steps = [(label: String, next: Self)]

    /// Loads, and continues with each value that the load may return.
    package func load(
        _ place: Int,
        _ access: String,
        by thread: Int,
        then: (inout Self, Int) -> Void
    ) -> Steps {
        memory.load(place, order(of: access), by: thread).map { value, memory in
            step("\(thread): \(access) → \(value)", memory) { then(&$0, value) }
        }
    }

    /// Stores, and continues.
    package func store(
        _ place: Int,
        _ value: Int,
        _ access: String,
        by thread: Int,
        then: (inout Self) -> Void
    ) -> Steps {
        memory.store(place, value, order(of: access), by: thread).map { memory in
            step("\(thread): \(access) ← \(value)", memory, then)
        }
    }

    /// Exchanges, or tries to, and continues with the old value.
    package func exchange(
        _ place: Int,
        _ access: String,
        by thread: Int,
        _ change: (Int) -> Int?,
        then: (inout Self, Int) -> Void
    ) -> Steps {
        memory.exchange(place, order(of: access), by: thread, change).map { old, memory in
            step("\(thread): \(access), was \(old)", memory) { then(&$0, old) }
        }
    }

    /// A step that is no access.
    package func step(_ label: String, _ change: (inout Self) -> Void) -> Steps {
        [step(label, memory, change)]
    }

    private func step(_ label: String, _ memory: WeakMemory, _ change: (inout Self) -> Void) -> (String, Self)
    {
        var next = self
        next.memory = memory
        change(&next)
        return (label, next)
    }

    /// What the model adds to the source, as a lock or a call of the kernel, is as strong as can be.
    private func order(of access: String) -> MemoryOrder { orders[access] ?? .sequentiallyConsistent }
}

extension [AtomicAccess] {
    /// The orders by the texts of the accesses, with some of them changed.
    package func orders(but changes: [String: MemoryOrder] = [:]) -> [String: MemoryOrder] {
        let own = Dictionary(uniqueKeysWithValues: map { ($0.text, $0.order) })
        return own.merging(changes) { $1 }
    }
}
