// A program with adapters that change every request before it is sent, like those of Alamofire. The usual way
// to choose an address is such an adapter, which writes the address into the URL and the name into Host. The
// client has a setting for the address, so that adapter is no longer needed.

import DirectHTTPFoundation
import Foundation
import Stage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Modelled on Alamofire's `RequestAdapter`.
protocol RequestAdapter: Sendable {
    func adapt(_ request: URLRequest) async throws -> URLRequest
}

/// Adds a token. This adapter stays as it is.
struct TokenAdapter: RequestAdapter {
    let token: String

    func adapt(_ request: URLRequest) -> URLRequest {
        var request = request
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        return request
    }
}

/// Puts an address into the URL. This adapter is removed: with it the certificate would have to be valid for
/// the address, and Host differs from the URL.
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

/// Sends requests through adapters. Only the session below them was replaced.
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

        // If the old adapter is not removed, the request fails: no request is sent with two names.
        let before = API(client: stage.client, adapters: [token, AddressAdapter(address: "127.0.0.1")])
        do {
            _ = try await before.text(request)
            throw Disappointment(words: "a request was sent with two names")
        } catch let error as URLError {
            print("before: \(error.httpError?.description ?? "")")
        }
    }
}
