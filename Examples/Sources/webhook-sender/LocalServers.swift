import DirectHTTP
import TLSFixtures

extension WebhookSender {
    /// Sends events to servers inside this process. One of them stands for a receiver, and only its address
    /// is allowed.
    static func sendToLocalServers() async throws {
        let receiver = try FixtureServer.start(on: "127.0.0.2") { request in
            request.path == "/moved"
                ? .redirect(to: "http://internal.example/") : .text("thanks", status: 202)
        }
        let secret = try FixtureServer.start(on: "127.0.0.1") { _ in .text("internal") }
        let map = try StaticMap(curl: [
            "hooks.example:\(receiver.port):127.0.0.2", "rebound.example:\(secret.port):127.0.0.1",
        ])
        let allowed = try AddressRange("127.0.0.2/32")
        let sender = WebhookSender(vetting: .publicInternetOnly(allowing: [allowed])) { $0.addresses = map }
        var results: [String] = []
        for url in [
            "http://hooks.example:\(receiver.port)/events",
            "http://hooks.example:\(receiver.port)/moved",
            "http://rebound.example:\(secret.port)/",
            "http://127.0.0.1:\(secret.port)/",
            "http://[::ffff:127.0.0.1]:\(secret.port)/",
            "http://169.254.169.254/latest/meta-data/",
            "file:///etc/passwd",
        ] {
            let result = await sender.send(#"{"event":"tea"}"#, to: url, id: "1")
            print("\(url): \(result)")
            results.append(String(result.prefix { $0 != ":" }))
        }
        precondition(
            results == ["sent", "not accepted", "refused", "refused", "refused", "refused", "failed"]
        )
        precondition(secret.requests.isEmpty && receiver.requests.count == 2)
    }
}
