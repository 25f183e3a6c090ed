// A program whose session passes the response to a delegate piece by piece.

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
        let reader = Reader()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [stage.client.urlProtocolClass()]
        let session = URLSession(configuration: configuration, delegate: reader, delegateQueue: nil)

        session.dataTask(with: try stage.url("/news")).resume()
        var news = ""
        for try await piece in reader.pieces { news += String(decoding: piece, as: UTF8.self) }
        try show("news", news.split(separator: "\n").joined(separator: ", "), promised: "one, two, three")
        print("it arrived \(stage.lastArrival)")
    }
}

/// Turns the calls of a session to its delegate into a stream.
final class Reader: NSObject, URLSessionDataDelegate, Sendable {
    let pieces: AsyncThrowingStream<Data, any Error>
    private let arrival: AsyncThrowingStream<Data, any Error>.Continuation

    override init() {
        (pieces, arrival) = AsyncThrowingStream.makeStream()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        arrival.yield(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        arrival.finish(throwing: error)
    }
}
