// WebKit as far as Examples/iOS uses it, written from Apple's documents: `scripts/apple app` compiles the app with it.
public import Foundation
public import FoundationNetworking
public import Network

@MainActor
public final class WKWebsiteDataStore {
    public static func nonPersistent() -> WKWebsiteDataStore { fatalError() }
    public var proxyConfigurations: [ProxyConfiguration] { get { fatalError() } set {} }
}

@MainActor
public final class WKWebViewConfiguration {
    public init() {}
    public var websiteDataStore: WKWebsiteDataStore { get { fatalError() } set {} }
}

public final class WKNavigation {}

@MainActor
public protocol WKNavigationDelegate: AnyObject {
    func webView(_ view: WKWebView, didFinish navigation: WKNavigation!)
    func webView(_ view: WKWebView, didFail navigation: WKNavigation!, withError error: any Error)
    func webView(_ view: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error)
}

@MainActor
public final class WKWebView {
    public init(frame: CGRect, configuration: WKWebViewConfiguration) {}
    public weak var navigationDelegate: (any WKNavigationDelegate)?
    public var url: URL? { fatalError() }
    @discardableResult public func load(_ request: URLRequest) -> WKNavigation? { fatalError() }
}
