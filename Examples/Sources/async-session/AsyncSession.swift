// A program that keeps its URLSession: one line makes the client send the session's requests.

import DirectHTTPFoundation
import Foundation
import Stage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@main
enum Program {
    static func main() async throws {
        let stage = try Stage()

        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [
            stage.client.urlProtocolClass(hosts: [try HostPattern("*.shop.example")])
        ]
        let session = URLSession(configuration: configuration)

        let (data, response) = try await session.data(from: try stage.url("/moved"))
        let items = try JSONDecoder().decode([Item].self, from: data)
        try show("GET", items.map(\.name).joined(separator: ", "), promised: "tea, cake")
        try show("from", response.url?.path ?? "", promised: "/catalogue")
        print("it arrived \(stage.lastArrival)")

        var order = URLRequest(url: try stage.url("/orders"))
        order.httpMethod = "POST"
        order.httpBody = Data("two cakes".utf8)
        let (inBody, _) = try await session.data(for: order)
        try show("httpBody", String(decoding: inBody, as: UTF8.self), promised: "POST of 9 bytes")

        order.httpBody = nil
        let (uploaded, _) = try await session.upload(for: order, from: Data("three cakes".utf8))
        try show("upload", String(decoding: uploaded, as: UTF8.self), promised: "POST of 11 bytes")
    }
}
