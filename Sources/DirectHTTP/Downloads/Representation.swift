internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// A version of a resource that is being downloaded: where it is, what identifies it, and how long it is.
struct Representation: Equatable, Sendable {
    /// The URL that sent it, after redirects. A validator says nothing about other URLs (RFC 9110, section
    /// 8.8.1).
    var url: HTTPURL
    /// The identity of the server that sent it, if that has not proved to be the URL's host. Bytes of such a
    /// server are never joined with those of another one.
    var identity: String?
    /// Identifies the version; `nil` if the server sent nothing that does so without doubt.
    var validator: StrongValidator?
    /// The number of bytes; `nil` if the server did not say.
    var length: UInt64?
    /// Whether the file has parts from different URLs. Then only the digest of the whole shows that they
    /// belong together: a download that expects none must not continue it.
    var isJoined = false
}

/// A validator that two responses have in common only if their content is the same, byte by byte (RFC 9110,
/// section 8.8.1). Only such a validator may join parts of content (sections 13.1.5 and 15.3.7.3).
enum StrongValidator: Equatable, Sendable {
    /// An entity tag, with its quotes.
    case entityTag(String)
    /// The value of a `Last-Modified` field that is strong by section 8.8.2.2.
    case date(String)

    /// Takes the validator from the fields of a response; `nil` if it has no strong one.
    init?(_ headers: HTTPHeaders) {
        // A client that has an entity tag must not use the date, even if the tag is weak (section 13.1.5).
        if headers.contains("ETag") {
            guard let tag = Self.entityTag(headers) else { return nil }
            self = .entityTag(tag)
        } else {
            guard let date = Self.date(headers) else { return nil }
            self = .date(date)
        }
    }

    /// The value of `If-Range`.
    var text: String {
        switch self {
        case .entityTag(let tag): tag
        case .date(let date): date
        }
    }

    /// Whether a part of content with these fields belongs to this version.
    ///
    /// A part has to repeat the entity tag. It need not repeat the date if the request had it in `If-Range`
    /// (RFC 9110, section 15.3.7).
    func isMeant(by headers: HTTPHeaders) -> Bool {
        switch self {
        case .entityTag(let tag): Self.entityTag(headers) == tag
        case .date(let date):
            !headers.contains("ETag") && headers.values(for: "Last-Modified").allSatisfy { $0 == date }
        }
    }

    /// Returns the only entity tag if it is strong and valid.
    private static func entityTag(_ headers: HTTPHeaders) -> String? {
        let tags = headers.values(for: "ETag")
        guard tags.count == 1, let tag = tags.first, isValid(tag) else { return nil }
        return tag
    }

    /// Whether the text is a strong entity tag (section 8.8.3) of ASCII characters.
    static func isValid(_ tag: String) -> Bool {
        let bytes = Array(tag.utf8)
        let quote = UInt8(ascii: "\"")
        guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 != quote && 0x21...0x7E ~= $0 }
    }

    /// Returns the date if the server's clock was well past it when it sent the response. Otherwise the
    /// resource may have changed a second time within the second that the date names.
    private static func date(_ headers: HTTPHeaders) -> String? {
        let texts = headers.values(for: "Last-Modified")
        guard texts.count == 1, let text = texts.first, let modified = HTTPDate.parse(text),
            let sent = headers.date("date", now: .now)
        else { return nil }
        return sent >= modified.advanced(bySeconds: leastAge) ? text : nil
    }

    /// The seconds that make up for clocks of several machines that differ.
    private static let leastAge: Int64 = 60
}
