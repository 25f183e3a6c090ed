#if canImport(FoundationNetworking)
import DirectHTTP
import Foundation
import FoundationNetworking
import Testing

@testable import DirectHTTPFoundation

@Suite("Access to a session's internals")
struct SessionInsideTests {
    @Test("Queue, session, delegate and body of a task are found inside FoundationNetworking")
    func itFindsWhatFoundationNetworkingDoesNotTell() throws {
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        let url = try #require(URL(string: "http://www.example/"))
        let inside = SessionInside(session.uploadTask(with: URLRequest(url: url), from: Data("body".utf8)))
        #expect(inside.queue != nil)
        #expect(inside.session === session)
        #expect(inside.task.delegate === delegate)
        guard case .data(let data) = inside.body else {
            Issue.record("no body")
            return
        }
        #expect(Data(data) == Data("body".utf8))
    }

    @Test("A body that cannot be found is an error that names the alternative")
    func aBodyOutOfReachIsAnErrorWithWords() async throws {
        let url = try #require(URL(string: "http://www.example/"))
        let request = URLRequest(url: url)
        let task = URLSession(configuration: .ephemeral).uploadTask(with: request, from: Data("body".utf8))
        // As it would be in a FoundationNetworking with other names inside.
        let order = ProtocolOrder(request, task, nil, HTTPClient.Configuration())
        let error = await urlError { _ = try await order.request() }
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(error?.localizedDescription.contains("HTTPClient.upload") == true)
    }
}
#endif
