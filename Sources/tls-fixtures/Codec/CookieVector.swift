internal import DirectHTTP
internal import DirectHTTP1
internal import DirectJSON

/// What responses set, and which cookies go with the requests behind them.
struct CookieVector: Sendable {
    let head: VectorHead
    private let responses: [Response]
    private let requests: [Request]

    /// What `at` counts from: Friday, 15 January 2027, 08:00:00 GMT.
    private static let start = UnixTime(seconds: 1_800_000_000)

    private struct Response {
        var url: HTTPURL
        /// The values of `Set-Cookie`, each a field.
        var fields: [[UInt8]]
        var time: UnixTime

        init(_ value: JSONValue) throws(FieldFault) {
            var fields = try Fields(value)
            url = try fields.required("url", CookieVector.url)
            self.fields = try fields.required("set", Read.list(of: Read.bytes))
            time = CookieVector.start.advanced(bySeconds: try fields.optional("at", Read.integer) ?? 0)
            try fields.end()
        }
    }

    private struct Request {
        var url: HTTPURL
        /// The value of `Cookie`; nothing if there is no such field.
        var cookie: [UInt8]?
        var time: UnixTime

        init(_ value: JSONValue) throws(FieldFault) {
            var fields = try Fields(value)
            url = try fields.required("url", CookieVector.url)
            cookie = try fields.required("cookie") { value throws(FieldFault) -> [UInt8]? in
                value.isNull ? nil : try Read.bytes(value)
            }
            time = CookieVector.start.advanced(bySeconds: try fields.optional("at", Read.integer) ?? 0)
            try fields.end()
        }
    }

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldFault) {
        self.head = head
        responses = try fields.required("responses", Read.list(of: Response.init))
        requests = try fields.required("expect") { value throws(FieldFault) -> [Request] in
            var expect = try Fields(value)
            let requests = try expect.required("requests", Read.list(of: Request.init))
            try expect.end()
            guard !requests.isEmpty else {
                throw FieldFault(line: value.line, what: "no request is expected")
            }
            return requests
        }
    }

    /// What our jar does differently.
    func differences() -> [Difference] {
        let jar = CookieJar()
        for response in responses {
            var headers = Headers()
            for field in response.fields { headers.add("Set-Cookie", bytes: field) }
            jar.take(headers, from: response.url, at: response.time)
        }
        return requests.flatMap { request in
            Difference.between(
                "\(request.url)",
                Self.text(request.cookie),
                Self.text(jar.fieldBytes(for: request.url, at: request.time))
            )
        }
    }

    private static func text(_ bytes: [UInt8]?) -> String {
        bytes.map { String(String.UnicodeScalarView($0.map { Unicode.Scalar($0) })) } ?? "no field"
    }

    private static func url(_ value: JSONValue) throws(FieldFault) -> HTTPURL {
        let text = try Read.text(value)
        do throws(URLFault) {
            return try HTTPURL(text)
        } catch {
            throw FieldFault(line: value.line, what: "\(error)")
        }
    }
}
