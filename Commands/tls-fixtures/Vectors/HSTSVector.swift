internal import DirectHTTP

/// A test of Strict-Transport-Security: the responses that ask for TLS, and how later requests must come.
struct HSTSVector: TopicVector {
    var head: VectorHead
    let responses: [Response]
    var requests: [Request] { expect.requests }
    private let expect: Expectation

    /// A response with a policy.
    struct Response: Decodable, Sendable {
        var url: SpelledURL
        /// The values of the `Strict-Transport-Security` fields.
        var fields: [[UInt8]]
        /// The method of the request; `nil`: GET.
        var method: String?
        /// The status; `nil`: 200.
        var status: Int?

        private enum CodingKeys: String, CodingKey { case url, fields = "set", method, status }
    }

    /// A request, and the URL by which it must reach a server.
    struct Request: Decodable, Sendable {
        var url: SpelledURL
        var reached: HTTPURL
    }

    private struct Expectation: Checked, Sendable {
        let requests: [Request]

        var fault: String? { requests.isEmpty ? "no request is expected" : nil }
    }
}
