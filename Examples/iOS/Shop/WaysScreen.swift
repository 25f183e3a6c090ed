import AppHTTP
import SwiftUI

/// The same page by every way, one row each.
struct WaysScreen: View {
    @State private var outcomes: [String: String] = [:]
    private let page: String

    init(_ page: String) { self.page = page }

    var body: some View {
        List(Way.allCases, id: \.self) { way in
            VStack(alignment: .leading) {
                Text(way.rawValue)
                Text(outcomes[way.rawValue] ?? "…").font(.footnote)
            }
        }
        .task {
            guard let url = URL(string: page) else { return }
            for way in Way.allCases { outcomes[way.rawValue] = await way.outcome(url) }
        }
    }
}

/// The ways from an app's code to a chosen address.
enum Way: String, CaseIterable {
    case client, session, objectiveC = "objective-c"
    #if canImport(Alamofire)
    case alamofire
    #endif

    /// What came of a request: `ok` with the length of the page, or the error.
    func outcome(_ url: URL) async -> String {
        do {
            return "ok, \(try await text(url).utf8.count) bytes"
        } catch {
            return "failed: \(error)"
        }
    }

    private func text(_ url: URL) async throws -> String {
        switch self {
        case .client: try await Shop.client.get(url.absoluteString).requiringSuccess().text ?? ""
        case .session: try await Shop.textBySession(url)
        case .objectiveC: try await Shop.textByObjectiveC(url)
        #if canImport(Alamofire)
        case .alamofire: try await Shop.textByAlamofire(url)
        #endif
        }
    }
}
