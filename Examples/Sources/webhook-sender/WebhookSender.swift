// Sends an event to a URL that somebody else has chosen, and lets it reach no server of the own network: the
// guard looks at each address right before it is dialled, so no name, redirect or second DNS answer gets
// around it.
//
//   webhook-sender URL TEXT
//   webhook-sender               with servers of its own

import DirectHTTP

@main
struct WebhookSender {
    let client: HTTPClient

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let url = arguments.first, let text = arguments.last else {
            return try await sendToLocalServers()
        }
        let sender = WebhookSender(vetting: .publicInternetOnly) { _ in }
        print(await sender.send(text, to: url, id: "\(UInt64.random(in: 0 ... .max))"))
    }

    init(vetting: AddressVetting, _ configure: (inout HTTPClient.Configuration) -> Void) {
        client = HTTPClient {
            $0.vetting = vetting
            $0.timeouts.total = .seconds(10)
            $0.timeouts.response = .seconds(5)
            // Receivers know the id, so an event may arrive twice.
            var retries = RetryPolicy()
            retries.repeatsAnyMethod = true
            $0.retries = retries
            // A redirect would send the event elsewhere: the receiver's owner should give the right URL.
            $0.redirects = .deliver
            $0.maximumBufferedBody = 4096
            configure(&$0)
        }
    }

    /// Sends an event and returns a line for the log.
    func send(_ text: String, to url: String, id: String) async -> String {
        do {
            let answer = try await client.post(
                url,
                .text(text, contentType: "application/json"),
                headers: ["Idempotency-Key": id]
            ).requiringSuccess(keeping: 200)
            return "sent: \(answer.status)"
        } catch let error as HTTPError {
            switch error.reason {
            case .refused(let refusal): return "refused: \(refusal)"
            case .status(let status): return "not accepted: \(status)"
            default: return "failed: \(error)"
            }
        } catch {
            return "cancelled"
        }
    }
}
