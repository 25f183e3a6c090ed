/// A first-in, first-out queue from which any element can be removed.
///
/// A removed element is returned immediately with everything it holds. Nothing of it stays in the queue.
struct Waitlist<Element> {
    /// The position of an element. Positions are never reused, so a ticket never removes another element.
    struct Ticket: Hashable, Sendable {
        fileprivate let position: Int
    }

    private struct Place {
        let position: Int
        /// `nil` if the element was removed.
        var element: Element?
    }

    /// The places by rising position.
    private var places: [Place] = []
    /// The number of places at the start that are empty.
    private var passed = 0
    /// The position of the next element.
    private var end = 0

    private(set) var count = 0

    /// The number of places, of which up to half and one are empty.
    var placeCount: Int { places.count }

    /// The elements, in their order.
    var all: [Element] { places.compactMap(\.element) }

    /// Appends an element and returns its position.
    mutating func append(_ element: Element) -> Ticket {
        defer { (end, count) = (end + 1, count + 1) }
        places.append(Place(position: end, element: element))
        return Ticket(position: end)
    }

    /// Removes an element. Returns `nil` if it has already been removed or taken.
    mutating func remove(_ ticket: Ticket) -> Element? {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].position < ticket.position { low = middle + 1 } else { high = middle }
        }
        guard low < places.count, places[low].position == ticket.position else { return nil }
        return take(at: low)
    }

    /// Removes and returns the first element.
    mutating func popFirst() -> Element? { popFirstWithTicket()?.1 }

    /// Removes and returns the first element, and its ticket.
    mutating func popFirstWithTicket() -> (Ticket, Element)? {
        while passed < places.count {
            let ticket = Ticket(position: places[passed].position)
            passed += 1
            if let element = take(at: passed - 1) { return (ticket, element) }
        }
        return nil
    }

    /// Removes the elements that match, and returns them in their order.
    mutating func removeAll(where matches: (Element) -> Bool) -> [Element] {
        let found = places.filter { $0.element.map(matches) == true }
        return found.compactMap { remove(Ticket(position: $0.position)) }
    }

    private mutating func take(at index: Int) -> Element? {
        guard let element = places[index].element else { return nil }
        places[index].element = nil
        count -= 1
        tidy()
        return element
    }

    /// Drops the empty places once they are half of all. Over all calls, each is passed twice at most.
    private mutating func tidy() {
        guard 2 * count <= places.count else { return }
        places = places.filter { $0.element != nil }
        passed = 0
    }
}
