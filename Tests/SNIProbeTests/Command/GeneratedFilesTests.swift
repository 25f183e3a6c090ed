import Foundation
import Testing

@testable import SNIProbe

@Suite("Generated files")
struct GeneratedFilesTests {
    @Test(
        "Each checked-in file is what the option table generates",
        arguments: GeneratedFiles.places.keys.sorted()
    )
    func theCheckedInFileIsWhatTheTableMakes(_ what: String) throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let place = try #require(GeneratedFiles.places[what])
        let file = try String(contentsOf: package.appending(path: place), encoding: .utf8)
        #expect(
            file == (try GeneratedFiles.text(what)),
            "write it anew: sni-probe --generate \(what) > \(place)"
        )
    }
}
