import DirectResolvers
import Testing

@Suite("The product")
struct ExportTests {
    @Test("DirectResolvers includes the client")
    func client() {
        #expect(HTTPClient().settings.addresses.isEmpty)
    }
}
