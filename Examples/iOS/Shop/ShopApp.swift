import AppHTTP
import SwiftUI

/// An app with a page by the client, one in a web view, and a list of every other way to send a request.
@main
struct ShopApp: App {
    private let page = "https://www.example.com/"

    var body: some Scene {
        WindowGroup {
            TabView {
                PageScreen(page, model: PageModel(Shop.client))
                    .tabItem { Label("Client", systemImage: "network") }
                if let proxy = Shop.proxy, let url = URL(string: page) {
                    WebScreen(url, by: proxy)
                        .tabItem { Label("Web view", systemImage: "globe") }
                }
                WaysScreen(page)
                    .tabItem { Label("Other ways", systemImage: "list.bullet") }
            }
            .task { await Trial.run() }
        }
    }
}
