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

    @Test("A file that cannot be generated is refused, with those that can be")
    func unknown() async throws {
        let result = try await Program.run(["--generate", "powershell"])
        #expect(result.code == 64)
        #expect(result.output.isEmpty)
        #expect(
            result.errors
                == "sni-probe: 'powershell' cannot be generated\nhint: bash, fish, man, zsh\n"
        )
    }
}
