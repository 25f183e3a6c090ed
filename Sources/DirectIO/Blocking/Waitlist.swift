/// A first-in, first-out queue from which any element can be removed.
///
/// A removed element is returned immediately with everything it holds. Nothing of it stays in the queue.
struct Waitlist<Element> {
    /// The position of an element. Positions are never reused, so a ticket never removes another element.
    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private var elements: [UInt64: Element] = [:]
    /// The lowest position that may hold an element.
    private var first: UInt64 = 0
    /// The position of the next element.
    private var end: UInt64 = 0

    var count: Int { elements.count }

    /// Appends an element and returns its position.
    mutating func append(_ element: Element) -> Ticket {
        defer { end += 1 }
        elements[end] = element
        return Ticket(number: end)
    }

    /// Removes an element. Returns `nil` if it has already been removed or taken.
    mutating func remove(_ ticket: Ticket) -> Element? {
        defer { tidy() }
        return elements.removeValue(forKey: ticket.number)
    }

    /// Removes and returns the first element.
    mutating func popFirst() -> Element? {
        // Positions of removed elements are skipped. Over all calls, each is skipped at most once.
        while first < end {
            defer { first += 1 }
            if let element = elements.removeValue(forKey: first) {
                tidy()
                return element
            }
        }
        return nil
    }

    /// Removes the elements that match, and returns them in their order.
    mutating func removeAll(where matches: (Element) -> Bool) -> [Element] {
        defer { tidy() }
        let places = elements.filter { matches($0.value) }.keys.sorted()
        return places.compactMap { elements.removeValue(forKey: $0) }
    }

    /// Releases the storage of an emptied dictionary, which would otherwise keep its largest capacity.
    private mutating func tidy() {
        if elements.isEmpty, elements.capacity > 64 { elements = [:] }
    }
}
