import DirectHTTP
import TLSFixtures

/// Demonstrates direct-http against servers inside this process, and checks every claim it makes.
@main
struct Tour {
    static func main() async {
        let page = Page()
        do {
            let stage = try Stage()
            page.open(stage)
            try await Acts(stage, page).perform()
        } catch {
            page.promise("the tour runs to its end", false, "it failed: \(error)")
        }
        page.close()
    }
}
