#if canImport(SwiftUI)
public import SwiftUI

/// A screen with one page. So far it has been compiled with declarations in place of SwiftUI only.
public struct PageScreen: View {
    @State private var model: PageModel
    private let url: String

    /// Creates a screen for the URL.
    public init(_ url: String, model: PageModel) {
        self.url = url
        _model = State(initialValue: model)
    }

    /// The page's text, with its source below; pulling down gets it again.
    public var body: some View {
        List {
            Section {
                Text(model.text)
            } footer: {
                Text(model.footnote)
            }
        }
        .task { await model.load(url) }
        .refreshable { await model.load(url) }
    }
}
#endif
