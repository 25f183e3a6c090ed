import DirectTestData
import Testing

@testable import DirectIO

@Suite("Queues of calls that wait")
struct WaitlistTests {
    @Test("Elements leave in the order in which they came, without those that were removed")
    func order() {
        var list = Waitlist<Int>()
        let tickets = (0..<100).map { list.append($0) }
        for number in stride(from: 0, to: 100, by: 3) { #expect(list.remove(tickets[number]) == number) }
        var left: [Int] = []
        while let number = list.popFirst() { left.append(number) }
        #expect(left == (0..<100).filter { $0 % 3 != 0 })
        #expect(list.count == 0)
    }

    @Test("A ticket removes its own element, once, and never a later one")
    func ownElement() {
        var list = Waitlist<Int>()
        let first = list.append(1)
        let second = list.append(2)
        #expect(list.popFirst() == 1)
        let third = list.append(3)
        #expect(list.remove(first) == nil)
        #expect(list.remove(second) == 2)
        #expect(list.remove(second) == nil)
        #expect(list.count == 1)
        #expect(list.remove(third) == 3)
        #expect(list.popFirst() == nil)
    }

    @Test("Removing by a condition returns the elements in their order and leaves the others")
    func condition() {
        var list = Waitlist<Int>()
        for number in 0..<10 { _ = list.append(number) }
        #expect(list.removeAll { $0 % 2 == 0 } == [0, 2, 4, 6, 8])
        #expect(list.count == 5)
        #expect(list.popFirst() == 1)
    }

    @Test("Any sequence of steps does what it does to a plain array")
    func model() {
        var random = SplitMix64(seed: 1)
        var list = Waitlist<Int>()
        var model: [(number: Int, ticket: Waitlist<Int>.Ticket)] = []
        for number in 0..<5_000 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: model.append((number, list.append(number)))
            case 2: #expect(list.popFirst() == (model.isEmpty ? nil : model.removeFirst().number))
            case 3 where !model.isEmpty:
                let removed = model.remove(at: Int.random(in: model.indices, using: &random))
                #expect(list.remove(removed.ticket) == removed.number)
            default: #expect(list.count == model.count)
            }
        }
        #expect(list.removeAll { _ in true } == model.map(\.number))
    }

    @Test("Elements that come and go behind one that stays leave no places behind")
    func memory() {
        var list = Waitlist<Int>()
        let stays = list.append(0)
        for number in 1...100_000 {
            let ticket = list.append(number)
            #expect(list.remove(ticket) == number)
        }
        #expect(list.placeCount <= 2)
        #expect(list.remove(stays) == 0)
    }
}
