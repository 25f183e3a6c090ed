internal import DirectCore
internal import DirectHTTP
internal import DirectHTTP1

/// What is replaced by `***` where requests and responses are written to a text or a file: curl commands, HAR
/// archives.
///
/// Except with ``insecureNone``, users and passwords of URLs are left out in any case, and so is the value of
/// a field whose name or value looks like a credential: every API has a field of its own, so that no list of
/// them is complete. What should be a URL and is none is hidden as a whole.
public struct Redaction: Sendable {
    /// The header fields whose values are hidden. Names are compared ignoring case.
    public var fields: Set<String> = FieldRedaction.usual
    /// The items of queries and of bodies in `application/x-www-form-urlencoded` whose values are hidden:
    /// `nil` for all, as in errors and logs, and `[]` for none. Names are compared ignoring case. The query
    /// of a URL in `Location`, `Content-Location`, `Referer`, `Link` or `Refresh` counts as well, and so does
    /// its fragment.
    public var items: Set<String>?
    /// Whether bodies are left out. A body of another type than a form may contain secrets that no name
    /// tells.
    public var hidesBodies = false

    private(set) var isNone = false

    /// Hides the fields that carry credentials, and all values of queries and forms.
    public init() {}

    /// Hides nothing: passwords, cookies and tokens are written as they are sent.
    public static let insecureNone: Redaction = {
        var redaction = Redaction()
        redaction.fields = []
        redaction.items = []
        redaction.isNone = true
        return redaction
    }()
}

extension Redaction {
    private var rules: FieldRedaction { FieldRedaction(hiding: fields, items: items, isCareful: !isNone) }

    /// Returns the fields with the values that may be shown.
    func shown(_ headers: HTTPHeaders) -> HTTPHeaders {
        let rules = rules
        return HTTPHeaders(headers.map { ($0.name, rules.shown($0.name, $0.value)) })
    }

    /// Whether the value of a field is hidden, whatever it is.
    func hides(_ name: String) -> Bool { rules.hides(name) }

    /// Returns the text of the URL that may be shown.
    func shown(_ url: HTTPURL) -> String { rules.shown(url) }

    /// Returns the bytes of a body that may be shown; `nil` if it is left out.
    func shown(body: [UInt8], of headers: HTTPHeaders) -> [UInt8]? {
        guard !hidesBodies else { return nil }
        guard items?.isEmpty != true, headers.mayHaveContentType("application/x-www-form-urlencoded") else {
            return body
        }
        // Text that cannot be read cannot be searched for names.
        guard !headers.contains("Content-Encoding"), String(validating: body, as: UTF8.self) != nil else {
            return nil
        }
        return rules.shown(form: body)
    }
}
