import Foundation
import Testing

@testable import SNIProbe

@Suite("Generated files")
struct GeneratedFilesTests {
    @Test(
        "Each checked-in file is what the option table makes; scripts/make/pages writes it anew",
        arguments: GeneratedFiles.places
    )
    func theCheckedInFileIsWhatTheTableMakes(_ place: String) throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = package.appending(path: place)
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            try GeneratedFiles.text(place).write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == GeneratedFiles.text(place))
    }
}
