// Without the package Alamofire in the project, the app has one way less.
#if canImport(Alamofire)
import Alamofire
import Foundation

extension Shop {
    /// A session of Alamofire's that keeps its own headers, retriers and adapters.
    private static let alamofire: Session = {
        let configuration = URLSessionConfiguration.af.default
        configuration.protocolClasses = [ShopProtocol.self]
        return Session(configuration: configuration)
    }()

    /// The text of a page by Alamofire.
    static func textByAlamofire(_ url: URL) async throws -> String {
        try await alamofire.request(url).validate().serializingString().value
    }
}
#endif
