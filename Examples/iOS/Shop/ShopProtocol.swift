import AppHTTP
import Foundation

/// The class that sends the requests of sessions with the app's client. Objective-C knows it as `ShopProtocol`:
/// the generated header Shop-Swift.h has it.
@objc(ShopProtocol)
final class ShopProtocol: DirectURLProtocol {
    private static let shop = URLProtocolBinding(Shop.client)
    override class var binding: URLProtocolBinding { shop }
}

extension Shop {
    /// A session as the app had it before, with the class in it.
    static let session: URLSession = {
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [ShopProtocol.self]
        return URLSession(configuration: configuration)
    }()

    /// The text of a page by that session.
    static func textBySession(_ url: URL) async throws -> String {
        let (data, _) = try await session.data(from: url)
        return String(decoding: data, as: UTF8.self)
    }

    /// The text of a page by Feed.m, which the bridging header shows to Swift.
    static func textByObjectiveC(_ url: URL) async throws -> String { try await Feed.text(of: url) }
}
