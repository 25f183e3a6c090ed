import DirectTestCommands
import Testing

@Suite("Generated files")
struct GeneratedFilesTests {
    @Test(
        "Each checked-in file is what the option table makes; scripts/make/pages writes it anew",
        arguments: GeneratedFiles.places
    )
    func theCheckedInFileIsWhatTheTableMakes(_ place: String) throws {
        let text = GeneratedFiles.text(place)
        #expect(try CommandPages.checkedIn(place, made: text, from: #filePath) == text)
    }
}
