import DirectCore
@testable import DirectIO
import DirectTestCommands
import Foundation
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

    @Test("Only the answer that there is no such name or no address says none, not a failure to answer")
    func none() {
        #expect(LookupError(code: EAI_NONAME, systemCode: 0).saysNone)
        #if !canImport(Darwin)
        // EAI_NODATA
        #expect(LookupError(code: -5, systemCode: 0).saysNone)
        #endif
        for code in [EAI_AGAIN, EAI_FAIL, EAI_MEMORY, EAI_SYSTEM] {
            #expect(!LookupError(code: code, systemCode: ENOENT).saysNone)
        }
        let error = LookupError(code: EAI_SYSTEM, systemCode: EMFILE)
        #expect(error.description == "Too many open files" && error.isDescriptorShortage)
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
