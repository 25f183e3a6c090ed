/// The order of an access to an atomic, with the name that Swift's Synchronization gives it.
package enum MemoryOrder: String, Sendable {
    case relaxed, acquiring, releasing, acquiringAndReleasing, sequentiallyConsistent

    fileprivate var acquires: Bool { self != .relaxed && self != .releasing }
    fileprivate var releases: Bool { self != .relaxed && self != .acquiring }
    fileprivate var isStrong: Bool { self == .sequentiallyConsistent }
}

/// Memory that threads share, with all the freedom that C11 gives to atomics.
///
/// Each place has the list of its values in modification order (C11, 5.1.2.4), and each thread a view: the
/// oldest value of each place that it may still read. A load returns any value from there on. A store may go
/// anywhere behind it, also before values that other threads have stored meanwhile. A store that releases
/// leaves the thread's view with its value, and a load of that value that acquires adds it to the reader's.
/// An exchange stays next to the value that it has read, and passes that value's view on. Sequentially
/// consistent accesses are also in one order, here that of the steps: such a load returns nothing older than
/// the last such store.
///
/// This is the machine of views of Kang et al., "A Promising Semantics for Relaxed-Memory Concurrency" (POPL
/// 2017), without promises: no load returns what is stored only later because of it, which C11 permits in its
/// text, and compilers and processors do not do across the calls here (Lahav et al., RC11, PLDI 2017).
package struct WeakMemory: Hashable, Sendable {
    package typealias Place = Int
    package typealias Thread = Int

    private struct Message: Hashable {
        var value: Int
        /// What a reader that acquires this value knows; empty if the store did not release.
        var view: [Int]
        /// Whether this value replaced the one before it in one step.
        var isAttached: Bool
    }

    private var messages: [[Message]]
    private var views: [[Int]]
    /// The last value of each place that was stored sequentially consistently.
    private var strong: [Int]
    /// The first of the places that have only sequentially consistent accesses. Nobody can read their old
    /// values.
    private let firstStrong: Int

    /// Makes places with these values, which all threads know.
    ///
    /// - Parameter strong: The values of further places, behind the others, for what a model adds to the
    ///   source: locks, and calls of the kernel. All accesses to them are sequentially consistent.
    package init(_ values: [Int], strong: [Int] = [], threads: Int) {
        firstStrong = values.count
        let values = values + strong
        messages = values.map { [Message(value: $0, view: [], isAttached: false)] }
        views = Array(repeating: Array(repeating: 0, count: values.count), count: threads)
        self.strong = Array(repeating: 0, count: values.count)
    }

    /// The last value in modification order, for judges.
    package func latest(_ place: Place) -> Int { messages[place][messages[place].count - 1].value }

    /// Whether the thread knows the last value: a plain read that does not is a race.
    package func knowsLatest(_ place: Place, _ thread: Thread) -> Bool {
        views[thread][place] == messages[place].count - 1
    }

    /// All results of a load.
    package func load(_ place: Place, _ order: MemoryOrder, by thread: Thread) -> [(value: Int, Self)] {
        readable(place, order, by: thread).map { index in
            var next = self
            next.read(place, index, order, by: thread)
            next.forgetOld()
            return (messages[place][index].value, next)
        }
    }

    /// All results of a store.
    package func store(_ place: Place, _ value: Int, _ order: MemoryOrder, by thread: Thread) -> [Self] {
        let first = max(views[thread][place], order.isStrong ? strong[place] : 0) + 1
        return (first...messages[place].count).compactMap { index in
            if index < messages[place].count, messages[place][index].isAttached { return nil }
            var next = self
            next.insert(value, at: index, of: place, order, by: thread, attached: nil)
            next.forgetOld()
            return next
        }
    }

    /// All results of an exchange, or of a change that depends on the old value.
    ///
    /// - Parameter change: The new value; `nil` if the exchange fails, and so is only a load.
    package func exchange(
        _ place: Place,
        _ order: MemoryOrder,
        by thread: Thread,
        _ change: (Int) -> Int?
    ) -> [(old: Int, Self)] {
        readable(place, order, by: thread).compactMap { index in
            let old = messages[place][index]
            let isFollowed = index + 1 < messages[place].count && messages[place][index + 1].isAttached
            let new = change(old.value)
            if new != nil, isFollowed { return nil }
            var next = self
            next.read(place, index, order, by: thread)
            if let new { next.insert(new, at: index + 1, of: place, order, by: thread, attached: old.view) }
            next.forgetOld()
            return (old.value, next)
        }
    }

    /// Lets a thread know all, since it will not read again: memories that differ only in what it might have
    /// read are equal then.
    package mutating func retire(_ thread: Thread) {
        for place in messages.indices { views[thread][place] = messages[place].count - 1 }
        forgetOld()
    }

    private func readable(_ place: Place, _ order: MemoryOrder, by thread: Thread) -> Range<Int> {
        max(views[thread][place], order.isStrong ? strong[place] : 0)..<messages[place].count
    }

    private mutating func read(_ place: Place, _ index: Int, _ order: MemoryOrder, by thread: Thread) {
        views[thread][place] = max(views[thread][place], index)
        guard order.acquires else { return }
        views[thread] = Self.joined(views[thread], messages[place][index].view)
    }

    private mutating func insert(
        _ value: Int,
        at index: Int,
        of place: Place,
        _ order: MemoryOrder,
        by thread: Thread,
        attached: [Int]?
    ) {
        renumber(place) { $0 >= index ? $0 + 1 : $0 }
        let inherited = attached.map { $0.isEmpty ? $0 : shifted($0, place, index) } ?? []
        views[thread][place] = index
        let view = order.releases ? Self.joined(views[thread], inherited) : inherited
        messages[place].insert(Message(value: value, view: view, isAttached: attached != nil), at: index)
        if order.isStrong { strong[place] = index }
    }

    private func shifted(_ view: [Int], _ place: Place, _ index: Int) -> [Int] {
        var view = view
        if view[place] >= index { view[place] += 1 }
        return view
    }

    private static func joined(_ first: [Int], _ second: [Int]) -> [Int] {
        second.isEmpty ? first : zip(first, second).map(max)
    }

    /// Drops the values that no thread can read any more, so that equal memories are equal.
    private mutating func forgetOld() {
        for place in messages.indices {
            let latest = messages[place].count - 1
            let oldest = place < firstStrong ? views.reduce(latest) { min($0, $1[place]) } : latest
            guard oldest > 0 else { continue }
            messages[place].removeFirst(oldest)
            messages[place][0].isAttached = false
            renumber(place) { max(0, $0 - oldest) }
        }
    }

    private mutating func renumber(_ place: Place, _ change: (Int) -> Int) {
        for thread in views.indices { views[thread][place] = change(views[thread][place]) }
        for other in messages.indices {
            for index in messages[other].indices where !messages[other][index].view.isEmpty {
                messages[other][index].view[place] = change(messages[other][index].view[place])
            }
        }
        strong[place] = change(strong[place])
    }
}
