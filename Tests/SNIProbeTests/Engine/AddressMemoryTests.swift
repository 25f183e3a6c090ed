import DirectCore
import DirectTestCommands
import Testing

@testable import SNIProbe

@Suite("What is known of addresses", .idleLimit)
struct AddressMemoryTests {
    @Test("An address whose certificate without a name was renewed is proven again after a minute")
    func renewed() {
        let memory = AddressMemory()
        let key = AddressMemory.Key(address: Endpoint("192.0.2.1:443"), offersHTTP: true)
        let start = Instant.now
        func after(_ seconds: UInt64) -> Instant { start.advanced(byNanoseconds: seconds * 1_000_000_000) }
        memory.noteDefault([1], of: key, at: start)
        #expect(memory.holdsDefault([1], of: key, at: after(9)))
        #expect(!memory.holdsDefault([2], of: key, at: after(10)))
        // As many names are asked for, each by a series of its own.
        for seconds in stride(from: UInt64(11), to: 60, by: 8) {
            memory.noteDefault([2], of: key, at: after(seconds))
            #expect(!memory.holdsDefault([2], of: key, at: after(seconds + 1)))
        }
        memory.noteDefault([2], of: key, at: after(61))
        #expect(memory.holdsDefault([2], of: key, at: after(62)))
        // A series with different answers is no proof for as long.
        memory.noteDefault(nil, of: key, at: after(63))
        #expect(!memory.holdsDefault([2], of: key, at: after(64)))
    }

    @Test("An address that answers none of a whole series is no longer known to answer")
    func silenced() {
        let (memory, address) = (AddressMemory(), Endpoint("192.0.2.1:443"))
        let silent = Handshake(outcome: .failure(.silentTLS))
        memory.note([Handshake(outcome: .failure(.reset))], at: address)
        // Two servers of four may be silent.
        memory.note(Array(repeating: silent, count: 4), at: address)
        #expect(memory.slowest(at: address) == 0)
        memory.note(Array(repeating: silent, count: 8), at: address)
        #expect(memory.slowest(at: address) == nil)
    }
}
