import DirectCore
import DirectHTTP
import DirectHTTPFoundation
import DirectIO
import DirectTestTime
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The three ways in which a program that knows URLSession can send a request.
enum Way: String, Codable, CaseIterable, CustomTestStringConvertible {
    /// Foundation by itself: it is here so that its faults are written down.
    case plainURLSession
    /// The same with our class.
    case urlProtocol
    /// The same calls on our client.
    case bridge

    var testDescription: String { rawValue }
}

/// One program's way, with cookies of its own.
struct Sender: Sendable {
    let way: Way
    let cookies: HTTPCookieStorage
    private let client: HTTPClient
    private let session: URLSession

    init(_ way: Way, on loop: EventLoop = .still) {
        self.way = way
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Session": "additional"]
        let cookies = configuration.httpCookieStorage ?? .shared
        let client = HTTPClient {
            $0.loop = loop
            if way == .bridge { $0.headers["X-Session"] = "additional" }
            $0.maximumBufferedBody = 64 * 1024 * 1024
            if way == .bridge { $0.useCookies(of: cookies) }
        }
        if way == .urlProtocol { configuration.protocolClasses = [client.urlProtocolClass()] }
        self.cookies = cookies
        self.client = client
        session = URLSession(configuration: configuration)
    }

    func data(for request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        if way == .bridge { return try await client.data(for: request) }
        let (data, response) = try await session.data(for: request)
        return (data, try #require(response as? HTTPURLResponse))
    }

    func upload(for request: URLRequest, from body: Data) async throws -> (Data, HTTPURLResponse) {
        if way == .bridge { return try await client.upload(for: request, from: body) }
        let (data, response) = try await session.upload(for: request, from: body)
        return (data, try #require(response as? HTTPURLResponse))
    }

    func text(_ request: URLRequest) async throws -> String {
        String(decoding: try await data(for: request).0, as: UTF8.self)
    }
}
