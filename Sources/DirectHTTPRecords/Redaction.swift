internal import DirectCore
internal import DirectHTTP
internal import DirectHTTP1

/// What is replaced by `***` where requests and responses are written to a text or a file: curl commands, HAR
/// archives.
///
/// User and password of a URL are left out in any case, except with ``insecureNone``.
public struct Redaction: Sendable {
    /// The header fields whose values are hidden. Names are compared ignoring case.
    public var fields: Set<String> = SecretFields.names
    /// The items of queries and of bodies in `application/x-www-form-urlencoded` whose values are hidden:
    /// `nil` for all, as in errors and logs, and `[]` for none. Names are compared ignoring case. The query
    /// of a URL in `Location`, `Content-Location` or `Referer` counts as well, and so does its fragment.
    public var items: Set<String>?
    /// Whether bodies are left out. A body of another type than a form may contain secrets that no name
    /// tells.
    public var hidesBodies = false

    private var isNone = false

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

    /// The text in place of a secret.
    static let mask = "***"
}

extension Redaction {
    /// Returns the fields with the values that may be shown.
    func shown(_ headers: HTTPHeaders) -> HTTPHeaders {
        let hidden = Set(fields.map { $0.lowercased() })
        return HTTPHeaders(
            headers.map { field in
                let name = field.name.lowercased()
                if hidden.contains(name) { return (field.name, Self.mask) }
                guard Self.references.contains(name) else { return (field.name, field.value) }
                return (field.name, shown(reference: field.value))
            }
        )
    }

    /// Returns the text of the URL that may be shown.
    func shown(_ url: HTTPURL) -> String {
        shown(itemsOf: (isNone ? url : url.withoutCredentials).withoutFragment.text)
    }

    /// Returns the bytes of a body that may be shown; `nil` if it is left out.
    func shown(body: [UInt8], of headers: HTTPHeaders) -> [UInt8]? {
        guard !hidesBodies else { return nil }
        guard hidesItems, headers.hasContentType("application/x-www-form-urlencoded") else { return body }
        // What cannot be read cannot be searched for names.
        guard !headers.contains("Content-Encoding"), let text = String(validating: body, as: UTF8.self) else {
            return nil
        }
        return Array(hiding(text[...]).utf8)
    }

    /// The fields whose values are URLs.
    private static let references: Set<String> = ["location", "content-location", "referer"]

    private func shown(reference: String) -> String {
        if !isNone, let url = try? HTTPURL(reference), url.hasCredentials {
            return shown(itemsOf: url.withoutCredentials.text)
        }
        return shown(itemsOf: isNone ? reference : Self.withoutUser(reference))
    }

    /// Returns a reference that is no URL of ours without what may be user and password: what is before the
    /// last `@` of the part behind `//`. Browsers take `\\` for `//`.
    private static func withoutUser(_ reference: String) -> String {
        let scalars = reference.unicodeScalars
        guard let slash = scalars.firstIndex(where: { $0 == "/" || $0 == "\\" }) else { return reference }
        let start = scalars[slash...].firstIndex { $0 != "/" && $0 != "\\" } ?? scalars.endIndex
        guard scalars.distance(from: slash, to: start) >= 2 else { return reference }
        let end = scalars[start...].firstIndex { "/?#\\".unicodeScalars.contains($0) } ?? scalars.endIndex
        guard let mark = scalars[start..<end].lastIndex(of: "@") else { return reference }
        return String(scalars[..<start]) + String(scalars[scalars.index(after: mark)...])
    }

    private var hidesItems: Bool { items?.isEmpty != true }

    /// Hides values in the query, and in the fragment, which OAuth gives tokens to (RFC 6749, section 4.2.2).
    private func shown(itemsOf url: String) -> String {
        guard hidesItems else { return url }
        // By scalars: a mark that combines with `?` would hide it.
        let scalars = url.unicodeScalars
        let end = scalars.firstIndex(of: "#") ?? scalars.endIndex
        let start = scalars[..<end].firstIndex(of: "?") ?? end
        var shown = String(scalars[..<start])
        for part in [scalars[start..<end], scalars[end...]] {
            shown += String(part.prefix(1)) + hiding(Substring(part.dropFirst()))
        }
        return shown
    }

    /// Hides values in items that `&` separates. Of all items those without a name are values as a whole, as
    /// in `HTTPURL.redacted`.
    private func hiding(_ items: Substring) -> String {
        let hidden = self.items.map { Set($0.map { $0.lowercased() }) }
        // By scalars: a mark that combines with `=` or `&` would hide it.
        return items.unicodeScalars.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let name = item.prefix { $0 != "=" }
            guard name.endIndex < item.endIndex else {
                return hidden == nil && !item.isEmpty ? Self.mask : String(item)
            }
            // In a fragment a path may be before the first item: programs in a browser have such ones.
            let last = name.lastIndex(of: "?").map { name[name.index(after: $0)...] } ?? name
            let names = [name, last].map { Substring($0).decodedItem.lowercased() }
            guard hidden.map({ !$0.isDisjoint(with: names) }) ?? true else { return String(item) }
            return String(name) + "=" + Self.mask
        }.joined(separator: "&")
    }
}

extension Substring {
    /// The name of an item with its escapes undone: another spelling of a name is the same name.
    fileprivate var decodedItem: String {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(Substring(rest.prefix(2)), radix: 16),
                rest.count > 1
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
