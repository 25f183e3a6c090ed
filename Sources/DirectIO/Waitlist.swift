/// A queue, first in, first out, that an element can leave from anywhere.
///
/// An element that leaves is handed back at once, with all that it holds: no shell of it stays behind until its turn.
struct Waitlist<Element> {
    /// The place of one element. It is given once, so a ticket never removes another element.
    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private var elements: [UInt64: Element] = [:]
    /// No element has a lower number.
    private var first: UInt64 = 0
    private var end: UInt64 = 0

    var count: Int { elements.count }

    mutating func append(_ element: Element) -> Ticket {
        defer { end += 1 }
        elements[end] = element
        return Ticket(number: end)
    }

    /// The element, unless it has left or had its turn before.
    mutating func remove(_ ticket: Ticket) -> Element? {
        defer { tidy() }
        return elements.removeValue(forKey: ticket.number)
    }

    mutating func popFirst() -> Element? {
        // The numbers of those that left are passed over once: all calls together skip each at most one time.
        while first < end {
            defer { first += 1 }
            if let element = elements.removeValue(forKey: first) {
                tidy()
                return element
            }
        }
        return nil
    }

    /// A dictionary keeps the room of its largest days.
    private mutating func tidy() {
        if elements.isEmpty, elements.capacity > 64 { elements = [:] }
    }
}
