public import DirectHTTP

/// A link of a `Link` field (RFC 8288).
public struct WebLink: Hashable, Sendable {
    /// The target, resolved against the URL of the response; without user and password.
    public let target: HTTPURL
    /// The relation types, in lower case, such as `next`.
    public let relations: [String]
    /// The other parameters by their names in lower case; the first of each name counts. A value in the form
    /// of RFC 8187 (`title*`) stays as it is.
    public let parameters: [String: String]
}

extension HTTPClient.Response {
    /// The links of the `Link` fields. See `BufferedResponse.links`.
    public var links: [WebLink] { LinkFields.links(of: headers, at: url) }
}

extension HTTPClient.BufferedResponse {
    /// The links of the `Link` fields, in order. A link that cannot be read, whose target is no URL of HTTP,
    /// or that is about another resource than the response's (`anchor`), is left out.
    public var links: [WebLink] { LinkFields.links(of: headers, at: url) }
}

/// Reads `Link` fields (RFC 8288, appendix B.2).
private enum LinkFields {
    static func links(of headers: HTTPHeaders, at url: HTTPURL) -> [WebLink] {
        headers.indices.filter { headers[$0].name.lowercased() == "link" }
            .flatMap { links(of: headers.valueBytes(at: $0), at: url) }
    }

    private static func links(of value: [UInt8], at url: HTTPURL) -> [WebLink] {
        var (links, reader) = ([WebLink](), FieldScanner(value))
        while true {
            _ = reader.read { " \t,".utf8.contains($0) }
            guard reader.take(UInt8(ascii: "<")) else { return links }
            // Its bytes, as those of `Location`: they need not be UTF-8.
            let reference = Array(reader.rest.prefix { $0 != UInt8(ascii: ">") })
            _ = reader.read { $0 != UInt8(ascii: ">") }
            guard reader.take(UInt8(ascii: ">")) else { return links }
            var parameters = reader.parameters(before: UInt8(ascii: ","))
            // What is no parameter is skipped with its link.
            _ = reader.read { $0 != UInt8(ascii: ",") }
            guard parameters["anchor"] == nil, let target = try? reference.withSpan(url.resolving(utf8:)),
                target.user == nil
            else { continue }
            let relations = (parameters.removeValue(forKey: "rel") ?? "").split { $0 == " " || $0 == "\t" }
            links.append(
                WebLink(
                    target: target,
                    relations: relations.map { $0.lowercased() },
                    parameters: parameters
                )
            )
        }
    }
}
