import AppHTTP
import Foundation
import WebKit

/// A run that `scripts/apple run` starts in a simulator, with servers of the Mac: every way is tried once, and
/// prints a line. An app of your own does not need this file.
struct Trial: Sendable {
    /// The run that the environment describes; `nil` if a user has started the app.
    static let current = Trial(ProcessInfo.processInfo.environment)

    /// A page of the server, and one whose certificate is for another name.
    private let right, wrong: URL
    /// Where both are.
    let map: StaticMap
    /// The root of their certificates.
    let root: String

    private init?(_ environment: [String: String]) {
        guard let right = environment["SHOP_RIGHT"].flatMap(URL.init(string:)),
            let wrong = environment["SHOP_WRONG"].flatMap(URL.init(string:)),
            let entries = environment["SHOP_MAP"]?.split(separator: " ").map(String.init),
            let map = try? StaticMap(curl: entries), let root = environment["SHOP_ROOT"]
        else { return nil }
        (self.right, self.wrong, self.map, self.root) = (right, wrong, map, root)
    }

    /// Tries the ways of the run, and ends the app; does nothing if a user has started it.
    @MainActor
    static func run() async {
        guard let trial = current else { return }
        for way in Way.allCases {
            report(way.rawValue, await way.outcome(trial.right))
            let refused = await way.outcome(trial.wrong)
            let isRefused = refused.hasPrefix("failed:")
            report("\(way.rawValue) refuses", isRefused ? "ok, \(refused)" : "failed: accepted")
        }
        report("web-view", await WebTrial().outcome(trial.right))
        write("trial ended")
        exit(0)
    }

    /// At once, where `print` waits if its reader is a pipe.
    private static func write(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }

    private static func report(_ name: String, _ outcome: String) {
        // An error may have several lines.
        write("trial \(name): \(outcome.split(whereSeparator: \.isNewline).joined(separator: " "))")
    }
}

/// A page in a web view by the proxy of the app. WebKit checks the certificate, so the simulator has to have the root.
@MainActor
private final class WebTrial: NSObject, WKNavigationDelegate {
    private var ended: CheckedContinuation<String, Never>?
    /// Kept until the end: a released view loads nothing.
    private var view: WKWebView?

    func outcome(_ url: URL) async -> String {
        guard let proxy = Shop.proxy?.proxy.proxyConfiguration else { return "failed: no proxy" }
        let store = WKWebsiteDataStore.nonPersistent()
        store.proxyConfigurations = [proxy]
        let configuration = WKWebViewConfiguration()
        configuration.websiteDataStore = store
        let view = WKWebView(frame: .zero, configuration: configuration)
        view.navigationDelegate = self
        self.view = view
        return await withCheckedContinuation { continuation in
            ended = continuation
            view.load(URLRequest(url: url))
        }
    }

    private func end(_ outcome: String) {
        ended?.resume(returning: outcome)
        (ended, view) = (nil, nil)
    }

    func webView(_ view: WKWebView, didFinish navigation: WKNavigation!) {
        end("ok, \(view.url?.host() ?? "")")
    }
    func webView(_ view: WKWebView, didFail navigation: WKNavigation!, withError error: any Error) {
        end("failed: \(error)")
    }
    func webView(
        _ view: WKWebView,
        didFailProvisionalNavigation navigation: WKNavigation!,
        withError error: any Error
    ) { end("failed: \(error)") }
}
