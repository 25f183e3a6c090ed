/// The events to come, the earliest first; of those at the same time the one that was added first.
struct EventHeap {
    private struct Event {
        let time: UInt64
        let order: UInt64
        let run: () -> Void
    }

    private var events: [Event] = []
    private var count: UInt64 = 0

    /// The time of the next event.
    var next: UInt64? { events.first?.time }

    mutating func add(at time: UInt64, _ run: @escaping () -> Void) {
        count += 1
        events.append(Event(time: time, order: count, run: run))
        var child = events.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard isEarlier(child, than: parent) else { break }
            events.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the next event.
    mutating func pop() -> (time: UInt64, run: () -> Void)? {
        guard !events.isEmpty else { return nil }
        events.swapAt(0, events.count - 1)
        let first = events.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in 2 * parent + 1..<2 * parent + 3
            where child < events.count && isEarlier(child, than: least) {
                least = child
            }
            guard least != parent else { break }
            events.swapAt(parent, least)
            parent = least
        }
        return (first.time, first.run)
    }

    /// Compares without a copy of the events, which would retain their closures.
    private func isEarlier(_ first: Int, than second: Int) -> Bool {
        let (time, other) = (events[first].time, events[second].time)
        return time != other ? time < other : events[first].order < events[second].order
    }
}
