@testable import DirectCore
@testable import DirectTransport
import Testing

@Suite("The order of waiting requests")
struct WaitingLineTests {
    /// Behind a reference, as expectations call no mutating methods.
    private final class Line {
        private var line = WaitingLine()

        var isEmpty: Bool { line.isEmpty }
        var count: Int { line.count }
        var first: Int? { line.first?.ticket }

        func append(_ ticket: Int) {
            line.insert(PoolWaiter(ticket: ticket, route: .system, kept: .any))
        }
        func removeFirst() -> Int? { line.removeFirst()?.ticket }
        func remove(_ ticket: Int) -> Bool { line.remove(ticket) }
    }

    @Test(
        "The queue serves in the order of arrival, skips those that left, and forgets both",
        arguments: [3, 40, 1000]
    )
    func order(count: Int) {
        let line = Line()
        for ticket in 0..<count { line.append(ticket) }
        for ticket in 0..<count where ticket % 3 != 0 { #expect(line.remove(ticket)) }
        for ticket in 0..<count where ticket % 3 != 0 { #expect(!line.remove(ticket)) }
        var served: [Int] = []
        while let first = line.removeFirst() { served.append(first) }
        #expect(served == Array(stride(from: 0, to: count, by: 3)))
        #expect(line.isEmpty && line.first == nil)
        #expect(!line.remove(0))
    }

    @Test("The queue gives the same results as a sorted list under random operations")
    func model() {
        var dice = SystemRandomNumberGenerator()
        let line = Line()
        var model: [Int] = []
        for ticket in 0..<5000 {
            switch Int.random(in: 0..<9, using: &dice) {
            case 0..<4:
                line.append(ticket)
                model.append(ticket)
                // Those of urgent requests are before all others.
                guard ticket % 7 == 0 else { break }
                line.append(ticket - 10_000)
                model.insert(ticket - 10_000, at: model.firstIndex { $0 >= 0 } ?? model.endIndex)
            case 4..<6:
                #expect(line.removeFirst() == (model.isEmpty ? nil : model.removeFirst()))
            default:
                let victim = Int.random(in: 0...ticket, using: &dice)
                #expect(line.remove(victim) == model.contains(victim))
                model.removeAll { $0 == victim }
            }
            #expect(line.count == model.count && line.first == model.first)
        }
    }
}
