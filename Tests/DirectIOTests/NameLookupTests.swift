import DirectCore
import DirectIO
import DirectTestCommands
import Testing

@Suite("Results of the system's resolver", .idleLimit)
struct NameLookupTests {
    @Test("The name localhost is the local host, with each address once")
    func localhost() throws {
        let addresses = try lookUp("localhost").get()
        #expect(!addresses.isEmpty)
        #expect(Set(addresses).count == addresses.count)
        #expect(addresses.allSatisfy { $0.description == "::1" || $0.bytes.first == 127 })
    }

    /// Its label is too long for DNS, so it fails without asking any server.
    @Test("The error for a name that cannot be resolved has the resolver's message")
    func failure() {
        let name = String(repeating: "a", count: 64) + ".test"
        guard case .failure(let error) = lookUp(name) else {
            Issue.record("\(name) has an address")
            return
        }
        #expect(error.code != 0)
        #expect(!error.description.isEmpty)
        #expect(!error.description.contains(name))
    }
}
