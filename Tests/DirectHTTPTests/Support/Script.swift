@testable import DirectCore
@testable import DirectTransport
import Synchronization

@testable import DirectHTTP

/// A transport for tests that reads the body of each request, answers from a list and keeps what it was
/// asked.
final class Script: Sendable {
    struct Asked: Sendable {
        var method: HTTPMethod
        var url: String
        var headers: HTTPHeaders
        var addresses: [Endpoint]?
        var hasBody: Bool
    }

    private let asked = Mutex<[Asked]>([])
    private let answers: [(HTTPStatus, HTTPHeaders)]

    /// The last answer is given again and again.
    init(_ answers: (HTTPStatus, HTTPHeaders)...) {
        self.answers = answers
    }

    /// Answers that point to one place after the other, and at last `200`.
    static func redirecting(_ status: HTTPStatus = 302, _ locations: String...) -> Script {
        Script(all: locations.map { (status, ["Location": $0]) } + [(200, [:])])
    }

    private init(all answers: [(HTTPStatus, HTTPHeaders)]) {
        self.answers = answers
    }

    var requests: [Asked] { asked.withLock { $0 } }
    var urls: [String] { requests.map(\.url) }

    func client(_ configure: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        .untimed { settings in
            settings.transport = { request in
                let index = try self.asked.withLock { asked in
                    asked.append(
                        Asked(
                            method: request.method,
                            url: try request.url.text,
                            headers: request.headers,
                            addresses: request.addresses,
                            hasBody: !request.body.isNone
                        )
                    )
                    return asked.count - 1
                }
                _ = try await request.body.collect(upTo: .max)
                let (status, headers) = self.answers[min(index, self.answers.count - 1)]
                return try Response(to: request, status, headers: headers, body: Array("\(index)".utf8))
            }
            configure(&settings)
        }
    }
}
