import DirectResolvers
import Testing

@Suite("Exports of DirectResolvers")
struct ExportTests {
    @Test("DirectResolvers includes the client")
    func client() {
        #expect(HTTPClient().configuration.addresses.isEmpty)
    }
}
