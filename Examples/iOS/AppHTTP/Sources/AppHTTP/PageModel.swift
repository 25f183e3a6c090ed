import DirectHTTP
import Observation

/// What a screen shows of a page: the text and where it came from, or the error in one line.
@MainActor
@Observable
public final class PageModel {
    /// The text of the page.
    public private(set) var text = ""
    /// The address that answered and who named it, or what went wrong.
    public private(set) var footnote = ""
    private let client: HTTPClient

    /// Creates an empty model.
    public init(_ client: HTTPClient) { self.client = client }

    /// Gets the page. If the screen disappears meanwhile, its task is cancelled and the request with it.
    public func load(_ url: String) async {
        do {
            let page = try await client.get(url).requiringSuccess()
            text = page.text ?? ""
            footnote =
                page.transaction.map { "\($0.endpoint?.description ?? "a socket"), named by \($0.source)" }
                ?? "from the cache"
        } catch {
            footnote = "\(error)"
        }
    }
}
