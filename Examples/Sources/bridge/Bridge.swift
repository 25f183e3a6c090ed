// A program that has moved from URLSession to the client: `session.` became `client.`, and nothing else
// changed.

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
        let client = stage.client

        let (data, response) = try await client.data(from: try stage.url("/moved"))
        let items = try JSONDecoder().decode([Item].self, from: data)
        try show("data", items.map(\.name).joined(separator: ", "), promised: "tea, cake")
        try show("from", response.url?.path ?? "", promised: "/catalogue")
        print("it arrived \(stage.lastArrival)")

        var order = URLRequest(url: try stage.url("/orders"))
        order.httpMethod = "POST"
        let (answer, _) = try await client.upload(for: order, from: Data("three cakes".utf8))
        try show("upload", String(decoding: answer, as: UTF8.self), promised: "POST of 11 bytes")

        let (file, _) = try await client.download(from: try stage.url("/catalogue"))
        defer { try? FileManager.default.removeItem(at: file) }
        try show("download", "\(try Data(contentsOf: file).count) bytes", promised: "52 bytes")

        // URLSession has this call on Apple's platforms only.
        var lines: [String] = []
        let (bytes, _) = try await client.bytes(from: try stage.url("/news"))
        for try await line in bytes.lines { lines.append(line) }
        try show("lines", lines.joined(separator: ", "), promised: "one, two, three")

        // Errors are URLErrors, with the client's own error inside.
        do {
            _ = try await client.data(from: URL(fileURLWithPath: "/etc/hostname"))
            throw Disappointment(words: "a file was fetched over HTTP")
        } catch let error as URLError {
            try show("a file", "\(error.code == .unsupportedURL)", promised: "true")
            print(error.httpError?.description ?? "")
        }
    }
}
