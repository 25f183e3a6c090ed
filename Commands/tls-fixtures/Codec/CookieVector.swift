internal import DirectHTTP
internal import DirectHTTP1

/// A test of the cookie jar: the responses that set cookies, and the cookies that later requests must carry.
struct CookieVector: TopicVector {
    var head: VectorHead
    let responses: [Response]
    var requests: [Request] { expect.requests }
    private let expect: Expectation

    /// The time that `at` is relative to: Friday, 15 January 2027, 08:00:00 GMT.
    static let start = UnixTime(seconds: 1_800_000_000)

    /// A response whose cookies the jar takes.
    struct Response: Decodable, Sendable {
        var url: SpelledURL
        /// The values of the `Set-Cookie` fields.
        var fields: [[UInt8]]
        @Or<Zero> private var at: Int64

        var time: UnixTime { CookieVector.start.advanced(bySeconds: at) }

        private enum CodingKeys: String, CodingKey { case url, fields = "set", at }
    }

    /// A request and the cookies that it must carry.
    struct Request: Decodable, Sendable {
        var url: SpelledURL
        /// The expected value of `Cookie`. `nil` if the request must not have that field.
        @OrNull var cookie: [UInt8]?
        @Or<Zero> private var at: Int64

        var time: UnixTime { CookieVector.start.advanced(bySeconds: at) }
    }

    private struct Expectation: Checked, Sendable {
        let requests: [Request]

        var fault: String? { requests.isEmpty ? "no request is expected" : nil }
    }

    /// Returns what our cookie jar does differently.
    func differences() -> [Difference] {
        let jar = CookieJar()
        for response in responses {
            var headers = HTTPHeaders()
            for field in response.fields { headers.add("Set-Cookie", bytes: field) }
            jar.take(headers, from: response.url.url, at: response.time)
        }
        return requests.flatMap { request in
            Difference.between(
                request.url.text,
                expected: Self.text(request.cookie),
                got: Self.text(jar.fieldBytes(for: request.url.url, at: request.time))
            )
        }
    }

    /// The bytes as Latin-1 text, or "no field" for `nil`.
    static func text(_ bytes: [UInt8]?) -> String {
        bytes.map { String(String.UnicodeScalarView($0.map { Unicode.Scalar($0) })) } ?? "no field"
    }
}
