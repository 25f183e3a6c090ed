internal import DirectHTTP
internal import DirectJSON

/// A test of the cache: requests in turn, the origin's answer to each, and what the cache must do.
struct CacheVector: TopicVector, Checked {
    /// A request, and the origin's answer in case it is asked.
    struct Exchange: Decodable, Sendable {
        /// The time of the request in seconds after ``CacheVector/start``.
        @Or<Zero> var time: Int64
        @Or<Get> var method: String
        /// The URL, relative to `https://a.example/`.
        @Or<Root> var url: String
        @DatedPairs var fields: [(name: String, value: String)]
        var body: String?
        /// The protocols in the request's Upgrade field.
        @OrEmpty var upgrade: [String]
        /// Header fields that an interceptor between cache and origin sets in the request.
        @DatedPairs var added: [(name: String, value: String)]
        private var response: Reply

        var origin: Origin { response.origin }
        /// The time that the origin takes to answer, in seconds.
        var delay: Int64 { response.delay }

        private enum CodingKeys: String, CodingKey {
            case time = "at", method, url, fields = "request", body = "content", upgrade, added, response
        }

        enum Root: Fallback { static let value = "/" }
    }

    /// The origin's behaviour.
    enum Origin: Sendable {
        case answers(status: Int, fields: [(name: String, value: String)], body: String)
        /// The origin cannot be reached.
        case isUnreachable
    }

    /// The response that the caller must get, and the request that the origin must see. Values that are `nil`
    /// are not compared.
    struct Answer: Checked, Sendable {
        var use: String
        var status: Int?
        var body: String?
        /// Header fields with their required values. `nil` means that the field must be absent.
        @DatedPairs var fields: [(name: String, value: String?)]
        /// Whether the origin must be asked.
        var isAsked: Bool?
        /// Header fields of the request to the origin, in the same form.
        @DatedPairs var sent: [(name: String, value: String?)]

        var fault: String? {
            let uses = ["hit", "stale", "revalidated", "miss", "bypassed", "error"]
            return uses.contains(use)
                ? nil : "use: \"\(use)\" is not one of \(uses.joined(separator: ", "))"
        }

        private enum CodingKeys: String, CodingKey {
            case use, status, body, fields = "headers", isAsked = "asked", sent
        }
    }

    var head: VectorHead
    let exchanges: [Exchange]
    var answers: [Answer] { expect.answers }
    private let expect: Expectation
    /// The time for which the cache may use stale responses if the origin cannot be reached, in seconds.
    let staleWhenUnreachable: Int64?

    private struct Expectation: Decodable, Sendable {
        let answers: [Answer]
    }

    var fault: String? {
        answers.count == exchanges.count
            ? nil : "\(exchanges.count) exchanges and \(answers.count) answers"
    }

    /// The time at which every vector begins. Dates in vectors are relative to it.
    static let start = UnixTime(seconds: 1_800_000_000)
}

/// The origin's behaviour and its delay.
private struct Reply: FromJSON, Sendable {
    let origin: CacheVector.Origin
    let delay: Int64

    init(_ value: JSONValue) throws(FieldError) {
        if case .string("unreachable") = value.content {
            (origin, delay) = (.isUnreachable, 0)
            return
        }
        let answer = try StrictDecoder.decode(Answer.self, from: value)
        origin = .answers(status: answer.status, fields: answer.headers, body: answer.body)
        delay = answer.delay
    }

    private struct Answer: Decodable {
        @Or<OK> var status: Int
        @DatedPairs var headers: [(name: String, value: String)]
        @OrEmpty var body: String
        @Or<Zero> var delay: Int64
    }

    enum OK: Fallback { static let value = 200 }
}

/// Names and values as ``Pairs`` has them. A number stands for the date that many seconds after the start.
@propertyWrapper struct DatedPairs<Value: Decodable & Sendable>: FromJSON, MayBeAbsent, Sendable {
    @Pairs var wrappedValue: [(name: String, value: Value)]

    init() {}
    init(_ value: JSONValue) throws(FieldError) { _wrappedValue = try Pairs(try value.withDates()) }
}

extension JSONValue {
    fileprivate func withDates() throws(FieldError) -> JSONValue {
        var dated = self
        switch content {
        case .array(let elements):
            dated.content = .array(try elements.map { element throws(FieldError) in try element.withDates() })
        case .number:
            let seconds = try StrictDecoder.decode(Int64.self, from: self)
            dated.content = .string(HTTPDate.text(CacheVector.start.advanced(bySeconds: seconds)))
        default: break
        }
        return dated
    }
}
