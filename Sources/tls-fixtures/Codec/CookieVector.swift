internal import DirectHTTP
internal import DirectHTTP1
internal import DirectJSON

/// A test of the cookie jar: the responses that set cookies, and the cookies that later requests must carry.
struct CookieVector: Sendable {
    let head: VectorHead
    let responses: [Response]
    let requests: [Request]

    /// The time that `at` is relative to: Friday, 15 January 2027, 08:00:00 GMT.
    static let start = UnixTime(seconds: 1_800_000_000)

    /// A response whose cookies the jar takes.
    struct Response {
        var url: HTTPURL
        /// The values of the `Set-Cookie` fields.
        var fields: [[UInt8]]
        var time: UnixTime

        init(_ value: JSONValue) throws(FieldError) {
            var fields = try Fields(value)
            url = try fields.required("url", read: CookieVector.url)
            self.fields = try fields.required("set", read: Read.list(of: Read.bytes))
            time = CookieVector.start.advanced(bySeconds: try fields.optional("at", read: Read.integer) ?? 0)
            try fields.end()
        }
    }

    /// A request and the cookies that it must carry.
    struct Request {
        var url: HTTPURL
        /// The expected value of `Cookie`. `nil` if the request must not have that field.
        var cookie: [UInt8]?
        var time: UnixTime

        init(_ value: JSONValue) throws(FieldError) {
            var fields = try Fields(value)
            url = try fields.required("url", read: CookieVector.url)
            cookie = try fields.required("cookie") { value throws(FieldError) -> [UInt8]? in
                value.isNull ? nil : try Read.bytes(value)
            }
            time = CookieVector.start.advanced(bySeconds: try fields.optional("at", read: Read.integer) ?? 0)
            try fields.end()
        }
    }

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldError) {
        self.head = head
        responses = try fields.required("responses", read: Read.list(of: Response.init))
        requests = try fields.required("expect") { value throws(FieldError) -> [Request] in
            var expect = try Fields(value)
            let requests = try expect.required("requests", read: Read.list(of: Request.init))
            try expect.end()
            guard !requests.isEmpty else {
                throw FieldError(line: value.line, what: "no request is expected")
            }
            return requests
        }
    }

    /// Returns what our cookie jar does differently.
    func differences() -> [Difference] {
        let jar = CookieJar()
        for response in responses {
            var headers = HTTPHeaders()
            for field in response.fields { headers.add("Set-Cookie", bytes: field) }
            jar.take(headers, from: response.url, at: response.time)
        }
        return requests.flatMap { request in
            Difference.between(
                "\(request.url)",
                expected: Self.text(request.cookie),
                got: Self.text(jar.fieldBytes(for: request.url, at: request.time))
            )
        }
    }

    /// The bytes as Latin-1 text, or "no field" for `nil`.
    static func text(_ bytes: [UInt8]?) -> String {
        bytes.map { String(String.UnicodeScalarView($0.map { Unicode.Scalar($0) })) } ?? "no field"
    }

    private static func url(_ value: JSONValue) throws(FieldError) -> HTTPURL {
        let text = try Read.text(value)
        do throws(HTTPURLError) {
            return try HTTPURL(text)
        } catch {
            throw FieldError(line: value.line, what: "\(error)")
        }
    }
}
