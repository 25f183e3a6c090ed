import DirectResolvers
import Testing

@Suite("The product")
struct ExportTests {
    @Test("brings the client along")
    func client() {
        #expect(HTTPClient().settings.addresses.isEmpty)
    }
}
