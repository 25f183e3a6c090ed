#if canImport(WebKit) && canImport(SwiftUI) && canImport(UIKit)
public import DirectProxy
public import Foundation
public import Network
public import SwiftUI
import WebKit

extension LocalProxy {
    /// The proxy as the system's web views, sessions and connections take it; `nil` if it does not listen.
    public var proxyConfiguration: ProxyConfiguration? {
        guard let endpoint = endpoints.first, let port = NWEndpoint.Port(rawValue: endpoint.port ?? 0) else {
            return nil
        }
        let place = NWEndpoint.hostPort(host: .init("\(endpoint.address)"), port: port)
        var configuration = ProxyConfiguration(httpCONNECTProxy: place)
        if let credentials {
            configuration.applyCredential(username: credentials.user, password: credentials.password)
        }
        // Else the system goes round the proxy where it fails.
        configuration.allowFailover = false
        return configuration
    }
}

/// A web view whose pages come from the addresses of the proxy's resolver, under their names. So far it has
/// been compiled with declarations in place of Apple's frameworks only.
public struct WebScreen: View {
    @State private var number = 0
    private let url: URL
    private let proxy: AppProxy

    /// Creates a screen for the URL.
    public init(_ url: URL, by proxy: AppProxy) { (self.url, self.proxy) = (url, proxy) }

    /// The page. With a new configuration it begins anew: a live data store takes it for new origins only.
    public var body: some View {
        Page(url: url, proxies: [proxy.proxy.proxyConfiguration].compactMap { $0 })
            .id(number)
            .task { for await _ in proxy.restarts { number += 1 } }
    }

    private struct Page: UIViewRepresentable {
        let url: URL
        let proxies: [ProxyConfiguration]

        func makeUIView(context: Context) -> WKWebView {
            let store = WKWebsiteDataStore.nonPersistent()
            store.proxyConfigurations = proxies
            let configuration = WKWebViewConfiguration()
            configuration.websiteDataStore = store
            let view = WKWebView(frame: .zero, configuration: configuration)
            // Without a proxy the page would come from the system's address.
            if !proxies.isEmpty { view.load(URLRequest(url: url)) }
            return view
        }

        func updateUIView(_ view: WKWebView, context: Context) {}
    }
}
#endif
