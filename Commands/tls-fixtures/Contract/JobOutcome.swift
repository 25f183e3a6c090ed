/// What came of a job.
enum JobOutcome: Sendable {
    /// One outcome for each request.
    case done([RequestOutcome])
    /// The client cannot do the job, for this reason.
    case left(String)
    /// The client crashed.
    case crashed(String)
    /// The client was still busy when all its time was over.
    case hung(String)
    /// The program that gives jobs to the client failed, so nothing is known of the client.
    case broken(String)

    /// The last outcome, as the vectors of connections judge it.
    var last: RequestOutcome {
        switch self {
        case .done(let outcomes): outcomes.last ?? RequestOutcome(.failed(kind: nil, text: "no result"))
        case .left(let why), .crashed(let why), .hung(let why), .broken(let why):
            RequestOutcome(.crashed(why))
        }
    }

    /// Whether a time limit ended the job or one of its requests.
    var hasReachedLimit: Bool {
        switch self {
        case .done(let outcomes):
            outcomes.contains { outcome in
                if case .failed(kind: "timeout", _, _) = outcome.result { true } else { false }
            }
        case .hung: true
        case .left, .crashed, .broken: false
        }
    }
}

/// What came of one request, as the client reports it.
struct RequestOutcome: Sendable {
    enum Result: Sendable {
        case response(ReportedResponse)
        /// The kind is a word of the vectors, and the detail the name of a fault in `response`, `decoding` or
        /// `redirect`. Each is `nil` if the client does not tell it.
        case failed(kind: String?, detail: String? = nil, text: String)
        case crashed(String)
    }

    var result: Result
    /// The outcome at each address that was tried, in that order. `nil` if the client does not report it.
    var attempts: [(address: String, ending: Ending)]?
    /// How long the request took by the client's own clock. `nil` if that is the system's.
    var elapsed: Duration?

    init(_ result: Result, attempts: [(address: String, ending: Ending)]? = nil) {
        (self.result, self.attempts) = (result, attempts)
    }

    /// The response, if there is one.
    var response: ReportedResponse? {
        if case .response(let response) = result { response } else { nil }
    }

    /// The client's own message, or an empty text.
    var message: String {
        switch result {
        case .response: ""
        case .failed(_, _, let text), .crashed(let text): text
        }
    }

    /// The outcome in the vectors' words.
    var ending: Ending {
        switch result {
        case .response(let response): response.status == 421 ? .fault(.misdirected) : .answered
        case .failed(let kind?, _, let text): Ending(failure: kind) ?? .other(text)
        case .failed(nil, _, let text): .other(text)
        case .crashed(let why): .crashed(why)
        }
    }

    /// The outcome in one word, for differences.
    var word: String {
        switch result {
        case .response(let response): response.status.map { "answered \($0)" } ?? "answered"
        case .failed(let kind, _, let text): "error \(kind ?? text)"
        case .crashed(let why): why
        }
    }
}

/// A response as a client reports it. What is `nil` is not reported.
struct ReportedResponse: Sendable {
    /// `nil` if the client tells no more than its success.
    var status: Int?
    var reason: String?
    var version: String?
    var fields: [(name: String, value: String)]
    var body: [UInt8]
    var trailers: [(name: String, value: String)]?
    var interims: [UInt16]?
    var url: String?
    /// What a cache did.
    var use: String?
    /// The server-sent events of the content: type, data and last id of each.
    var events: [[String]]?
}
