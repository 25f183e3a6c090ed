// A program with adapters that change every request on its way, as users of Alamofire have them. The documented way
// to a chosen address is such an adapter: it writes the address into the URL and the name into Host. With the client
// the address is no business of the request's, and that adapter goes.

import DirectHTTPFoundation
import Foundation
import Stage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The shape of Alamofire's `RequestAdapter`.
protocol RequestAdapter: Sendable {
    func adapt(_ request: URLRequest) async throws -> URLRequest
}

/// Stays as it is.
struct TokenAdapter: RequestAdapter {
    let token: String

    func adapt(_ request: URLRequest) -> URLRequest {
        var request = request
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        return request
    }
}

/// What is to go: the certificate would have to be the address's, and the Host is not the URL's.
struct AddressAdapter: RequestAdapter {
    let address: String

    func adapt(_ request: URLRequest) -> URLRequest {
        guard let url = request.url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            return request
        }
        var request = request
        request.setValue(parts.host, forHTTPHeaderField: "Host")
        parts.host = address
        request.url = parts.url
        return request
    }
}

/// Sends requests through adapters; the session below them is the only thing that has changed.
struct API: Sendable {
    let client: HTTPClient
    let adapters: [any RequestAdapter]

    func text(_ request: URLRequest) async throws -> String {
        var request = request
        for adapter in adapters { request = try await adapter.adapt(request) }
        return String(decoding: try await client.data(for: request).0, as: UTF8.self)
    }
}

@main
enum Program {
    static func main() async throws {
        let stage = try Stage()
        let request = URLRequest(url: try stage.url("/who"))

        let token = TokenAdapter(token: "tea")
        let after = API(client: stage.client, adapters: [token])
        try show("after", try await after.text(request), promised: "Bearer tea")
        print("it arrived \(stage.lastArrival)")

        // Who forgets to take the old adapter out is told so: no request goes out under two names.
        let before = API(client: stage.client, adapters: [token, AddressAdapter(address: "127.0.0.1")])
        do {
            _ = try await before.text(request)
            throw Disappointment(words: "a request went out under two names")
        } catch let error as URLError {
            print("before: \(error.httpError?.description ?? "")")
        }
    }
}
