#if canImport(FoundationNetworking)
import DirectHTTP
import DirectTestCommands
import Testing

@Suite("Plain URLSession as the oracle", .idleLimit)
struct OracleTests {
    @Test("In every cell our class does what plain URLSession does, but for the differences with a reason")
    func everyCell() async throws {
        let oracle = try Oracle()
        let client = HTTPClient.untimed()
        var seen = Set<String>()
        for cell in OracleCell.all {
            var compared = cell
            if cell.call == .uploadOfLength { compared.call = .uploadOfStream }
            var expected = try await oracle.run(compared, with: nil)
            for difference in OracleDifference.all {
                let before = expected
                difference.correct(&expected, cell)
                if expected != before { seen.insert(difference.reason) }
            }
            let outcome = try await oracle.run(cell, with: client)
            #expect(outcome == expected, "\(cell)")
        }
        // A difference that is gone is no difference.
        #expect(seen == Set(OracleDifference.all.map(\.reason)))
        #expect(OracleCell.all.count >= 150)
    }
}
#endif
