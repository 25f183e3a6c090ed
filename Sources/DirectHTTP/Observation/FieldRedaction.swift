package import DirectCore
internal import DirectHTTP1

/// What is replaced by `***` where fields and URLs are written to a text or a file: to a log, an archive, a
/// curl command.
package struct FieldRedaction: Sendable {
    /// The fields whose values are hidden unless the program says otherwise.
    package static let usual: Set<String> = [
        "Authorization", "Proxy-Authorization", "Authentication-Info", "Proxy-Authentication-Info", "Cookie",
        "Cookie2", "Set-Cookie", "Set-Cookie2", "X-Api-Key", "Api-Key", "X-Auth-Token", "X-Csrf-Token",
        "X-Xsrf-Token", "X-Amz-Security-Token", "X-Goog-Api-Key", "X-Vault-Token", "Private-Token",
    ]

    private let names: Set<String>
    private let items: SecretItems
    /// Whether what only looks like a secret is hidden as well, and the user of a URL.
    private let isCareful: Bool

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - names: The fields whose values are hidden, compared ignoring case.
    ///   - items: The items of queries and forms whose values are hidden; `nil` for all.
    ///   - isCareful: Whether fields that look like credentials are hidden as well, and users of URLs.
    package init(
        hiding names: Set<String> = Self.usual,
        items: Set<String>? = nil,
        isCareful: Bool = true
    ) {
        self.names = Set(names.map { $0.lowercased() })
        self.items = SecretItems(named: items)
        self.isCareful = isCareful
    }

    /// Returns the value of a field that may be shown.
    package func shown(_ name: String, _ value: String) -> String {
        let name = name.lowercased()
        guard !hides(name) else { return SecretItems.mask }
        switch name {
        case "location", "content-location", "referer": return shown(reference: value)
        case "link": return shown(links: value)
        case "refresh": return shown(refresh: value)
        default:
            guard isCareful else { return value }
            if value.looksSecret(in: name) { return SecretItems.mask }
            guard value.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") })
            else { return value }
            let isReference = !value.utf8.contains { " \t\",;<>{}".utf8.contains($0) }
            return isReference ? shown(reference: value) : SecretItems.mask
        }
    }

    /// Whether the value of a field is hidden, whatever it is.
    package func hides(_ name: String) -> Bool {
        let name = name.lowercased()
        return names.contains(name) || isCareful && name.looksSecret
    }

    /// Returns the text of a URL that may be shown.
    package func shown(_ url: HTTPURL) -> String {
        shown(text: (isCareful ? url.withoutCredentials : url).withoutFragment.text)
    }

    /// Returns the form that may be shown.
    package func shown(form: [UInt8]) -> [UInt8] { items.hidden(in: form[...]) }

    private func shown(text: String) -> String {
        items.isEmpty ? text : String(decoding: items.hidden(inReference: Array(text.utf8)), as: UTF8.self)
    }

    /// Returns a URL or a relative reference. What no URL can be read from is hidden as a whole: anything in
    /// it may be a password.
    private func shown(reference: String) -> String {
        guard isCareful else { return shown(text: reference) }
        guard let base = try? HTTPURL("http://h/"), let url = try? base.resolving(reference) else {
            return reference.isEmpty ? reference : SecretItems.mask
        }
        guard url.hasCredentials else {
            return reference.hasUserOfURL ? SecretItems.mask : shown(text: reference)
        }
        let text = url.withoutCredentials.text
        return shown(
            text: reference.utf8.starts(with: "//".utf8) ? String(text.dropFirst("http:".count)) : text
        )
    }

    /// Returns the value of `Link`: references in angle brackets, with parameters (RFC 8288).
    private func shown(links: String) -> String {
        guard isCareful else { return links }
        var (shown, rest) = ("", Substring(links).unicodeScalars)
        while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
            let between = String(rest[..<start])
            guard !between.mayHaveItems else { return SecretItems.mask }
            shown += between + "<" + self.shown(reference: String(rest[start..<end].dropFirst())) + ">"
            rest = rest[end...].dropFirst()
        }
        return String(rest).mayHaveItems ? SecretItems.mask : shown + String(rest)
    }

    /// Returns the value of `Refresh`: seconds, and a reference behind them.
    private func shown(refresh: String) -> String {
        guard isCareful else { return refresh }
        let scalars = refresh.unicodeScalars
        guard let mark = scalars.firstIndex(where: { $0 == ";" || $0 == "," }) else {
            return scalars.allSatisfy { $0.isASCII && $0.properties.numericType != nil || $0 == " " }
                ? refresh : SecretItems.mask
        }
        guard !String(scalars[..<mark]).mayHaveItems else { return SecretItems.mask }
        var reference = scalars[mark...].dropFirst().drop { $0 == " " }
        if String(reference.prefix(3)).lowercased() == "url" {
            let value = reference.dropFirst(3).drop { $0 == " " }
            if value.first == "=" {
                reference = value.dropFirst().drop { $0 == " " || $0 == "'" || $0 == "\"" }
            }
        }
        while reference.last == "'" || reference.last == "\"" { reference = reference.dropLast() }
        return String(scalars[...mark]) + " url=" + shown(reference: String(reference))
    }
}

extension HTTPHeaders {
    /// The names, in lower case, of the fields that carry credentials, as far as the names tell.
    var namesOfSecrets: Set<String> {
        lowercasedNames.filter(\.looksSecret)
    }
}

extension String {
    /// Whether a field with this name, in lower case, carries a credential, as far as the name tells: every
    /// API has a field of its own (CVE-2026-40895), so that no list of them is complete.
    ///
    /// Both the redaction and the askers of the cache go by it: a response to a secret value is not for other
    /// askers. A signature of each request therefore makes each one an asker of its own.
    fileprivate var looksSecret: Bool {
        guard !Self.harmless.contains(self) else { return false }
        let words = split { $0 == "-" || $0 == "_" || $0 == "." }
        return Self.secretParts.contains { has($0.utf8) }
            || words.contains {
                Self.secretWords.contains(String($0)) || $0.hasPrefix("auth") || $0.hasSuffix("auth")
            }
            || hasSuffix("key")
    }

    private static let secretWords: Set<String> = [
        "key", "sid", "pass", "pwd", "pw", "otp", "totp", "mfa", "pin", "psk", "login", "sig", "sign",
        "signature", "hmac", "assertion", "sas", "wsse", "cert",
    ]

    /// Not `contains`, which links Swift's parser of regular expressions into each program.
    private func has(_ part: UTF8View) -> Bool {
        var rest = utf8[...]
        while rest.count >= part.count {
            if rest.starts(with: part) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    private static let secretParts = [
        "token", "secret", "passw", "passphrase", "passcode", "credential", "session", "sessid", "csrf",
        "xsrf", "jwt", "bearer", "cookie", "apikey", "accesskey", "ticket",
    ]

    /// Fields whose names look like credentials and that are none.
    private static let harmless: Set<String> = [
        "www-authenticate", "proxy-authenticate", "access-control-allow-credentials", "idempotency-key",
        "sec-websocket-key", "surrogate-key", "cache-key", "x-cache-key", "public-key-pins", "author",
        "authority", ":authority", "signature-input", "accept-signature",
    ]

    /// Whether the value of a field, of this name in lower case, is a credential, as far as it tells: of a
    /// scheme of authentication, a JSON Web Token, or a user in a URL.
    ///
    /// By bytes: a mark that combines with a character would hide it.
    fileprivate func looksSecret(in name: String) -> Bool {
        if name == "www-authenticate" || name == "proxy-authenticate" { return hasUserOfURL }
        if name == "sec-websocket-protocol" { return lowercased().has("bearer".utf8) || hasUserOfURL }
        let scheme = utf8.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        if scheme.endIndex < utf8.endIndex, Self.schemes.contains(String(Substring(scheme)).lowercased()) {
            return true
        }
        return utf8.starts(with: "eyJ".utf8) && utf8.contains(UInt8(ascii: ".")) || hasUserOfURL
    }

    private static let schemes: Set<String> = [
        "basic", "bearer", "digest", "negotiate", "ntlm", "token", "apikey", "hmac", "aws4-hmac-sha256",
    ]

    /// Whether there is a user in a URL, or in a reference that begins with the host.
    fileprivate var hasUserOfURL: Bool {
        var rest = Array(utf8)[...]
        while let slash = rest.firstIndex(of: UInt8(ascii: "/")) {
            rest = rest[(slash + 1)...]
            guard rest.first == UInt8(ascii: "/") else { continue }
            let authority = rest.dropFirst().prefix { !"/?# ".utf8.contains($0) }
            if authority.contains(UInt8(ascii: "@")) { return true }
        }
        return false
    }

    /// Whether there may be a query, a fragment or a user in the text.
    fileprivate var mayHaveItems: Bool { unicodeScalars.contains { "?#@\\".unicodeScalars.contains($0) } }
}
