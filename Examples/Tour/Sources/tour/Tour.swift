import DirectHTTP
import TLSFixtures

/// Shows what direct-http is for, against servers inside this very process, and checks every claim it makes.
@main
struct Tour {
    static func main() async {
        let page = Page()
        do {
            let stage = try Stage()
            page.open(stage)
            try await Acts(stage, page).perform()
        } catch {
            page.promise("the tour runs to its end", false, "it ended with: \(error)")
        }
        page.close()
    }
}
