import DirectHTTP

struct URLQuestion: Decodable {
    let id: String
    let input: String
    let base: String?
}

struct URLAnswer: Encodable {
    let id: String
    var ok = false
    var scheme: String?
    var host: String?
    var port: UInt16?
    var target: String?
    var err: String?
}

extension SuiteAdapter {
    /// How the client reads a URL, or a reference to a base.
    static func reading(of question: URLQuestion) -> URLAnswer {
        var answer = URLAnswer(id: question.id)
        do throws(HTTPURLError) {
            let url = try read(question)
            answer.ok = true
            answer.scheme = url.scheme.rawValue
            // The suite counts the trailing dot as a part of the host; ours is kept beside it.
            answer.host = url.host.description + (url.hasTrailingDot ? "." : "")
            answer.port = url.port
            // To the suite an empty query is none, as to JavaScript's `search`; the client sends its mark.
            answer.target = url.path + (url.query.flatMap { $0.isEmpty ? nil : "?\($0)" } ?? "")
        } catch {
            answer.err = "\(error)"
        }
        return answer
    }

    private static func read(_ question: URLQuestion) throws(HTTPURLError) -> HTTPURL {
        guard let base = question.base else { return try HTTPURL(question.input) }
        let baseURL: HTTPURL
        do throws(HTTPURLError) {
            baseURL = try HTTPURL(base)
        } catch {
            // Not a base of ours: only a reference that needs none can be read.
            return try HTTPURL(question.input)
        }
        return try baseURL.resolving(question.input)
    }
}
