@testable import DirectCore
import DirectIO
@testable import DirectTransport
import Testing

@Suite("The history of addresses")
struct AddressMemoryTests {
    private let a = Destination(host: .init(name: "a.test"), port: 443, isSecure: true)
    private let b = Destination(host: .init(name: "b.test"), port: 443, isSecure: true)
    private let list: [Endpoint] = ["10.0.0.1:443", "10.0.0.2:443", "10.0.0.3:443"]

    private func at(_ seconds: UInt64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test("Without history, the order of addresses is the given one")
    func empty() {
        #expect(AddressHistory().order(list, for: a, at: at(1)) == list)
    }

    @Test("An address that failed is tried after the others, and is not dropped")
    func postponed() {
        let memory = AddressHistory()
        memory.recordFailure(list[0], in: .connect, for: a, at: at(1))
        #expect(memory.order(list, for: a, at: at(2)) == [list[1], list[2], list[0]])
        #expect(memory.order([list[0]], for: a, at: at(2)) == [list[0]])
    }

    @Test("A failure to connect counts for all names, and a failed handshake only for its name")
    func whose() {
        let memory = AddressHistory()
        memory.recordFailure(list[0], in: .connect, for: a, at: at(1))
        memory.recordFailure(list[1], in: .tls, for: a, at: at(1))
        #expect(memory.order(list, for: a, at: at(2)) == [list[2], list[0], list[1]])
        #expect(memory.order(list, for: b, at: at(2)) == [list[1], list[2], list[0]])
    }

    @Test("A failure is forgotten after a while, repeated ones later, and a success removes them")
    func decay() {
        let memory = AddressHistory()
        memory.recordFailure(list[0], in: .connect, for: a, at: at(0))
        #expect(memory.order(list, for: a, at: at(29)).last == list[0])
        #expect(memory.order(list, for: a, at: at(30)) == list)
        memory.recordFailure(list[0], in: .connect, for: a, at: at(30))
        #expect(memory.order(list, for: a, at: at(89)).last == list[0])
        #expect(memory.order(list, for: a, at: at(90)) == list)
        for _ in 0..<20 { memory.recordFailure(list[0], in: .connect, for: a, at: at(100)) }
        #expect(memory.order(list, for: a, at: at(699)).last == list[0])
        #expect(memory.order(list, for: a, at: at(700)) == list)
        memory.recordFailure(list[0], in: .connect, for: a, at: at(700))
        memory.noteSuccess(list[0], for: b, at: at(701))
        #expect(memory.order(list, for: a, at: at(702)) == list)
    }

    @Test("The address that worked is tried first for the same name, for a while")
    func preferred() {
        let memory = AddressHistory()
        memory.noteSuccess(list[2], for: a, at: at(0))
        #expect(memory.order(list, for: a, at: at(1)) == [list[2], list[0], list[1]])
        #expect(memory.order(list, for: b, at: at(1)) == list)
        #expect(memory.order(["10.0.0.9:443"], for: a, at: at(1)) == ["10.0.0.9:443"])
        #expect(memory.order(list, for: a, at: at(600)) == list)
    }

    @Test("An address that worked and then failed is no longer first")
    func fallen() {
        let memory = AddressHistory()
        memory.noteSuccess(list[1], for: a, at: at(0))
        memory.recordFailure(list[1], in: .tls, for: a, at: at(1))
        #expect(memory.order(list, for: a, at: at(2)) == [list[0], list[2], list[1]])
    }

    @Test("Address families alternate, beginning with the first, and failed addresses come last")
    func families() {
        let mixed: [Endpoint] = ["[2001:db8::1]:443", "[2001:db8::2]:443", "10.0.0.1:443", "10.0.0.2:443"]
        #expect(interleaved(mixed) == [mixed[0], mixed[2], mixed[1], mixed[3]])
        #expect(interleaved(Array(mixed[2...]) + mixed[..<2]) == [mixed[2], mixed[0], mixed[3], mixed[1]])
        #expect(interleaved(list) == list)
        #expect(interleaved([]) == [])
        let memory = AddressHistory()
        memory.recordFailure(mixed[0], in: .connect, for: a, at: at(1))
        #expect(memory.order(mixed, for: a, at: at(2)) == [mixed[1], mixed[2], mixed[3], mixed[0]])
    }

    @Test("The history has a bounded size")
    func bound() async {
        let memory = AddressHistory()
        for number in 0..<20_000 {
            await Task.yield()
            let endpoint = Endpoint(stringLiteral: "10.0.\(number / 250).\(number % 250):443")
            memory.recordFailure(endpoint, in: .connect, for: a, at: at(1))
        }
        #expect(memory.badCount <= 4096)
        memory.recordFailure(list[0], in: .connect, for: a, at: at(1))
        #expect(memory.order(list, for: a, at: at(2)).last == list[0])
    }
}
