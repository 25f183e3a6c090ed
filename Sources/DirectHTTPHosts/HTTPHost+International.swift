public import DirectHTTP

extension HTTPHost {
    /// Parses a host as people type it: `bücher.example` is `xn--bcher-kva.example`.
    ///
    /// ```swift
    /// let host = try HTTPHost(international: "bücher.example")
    /// print(host)                                          // xn--bcher-kva.example
    /// ```
    ///
    /// The conversion is that of UTS 46, nontransitional: `ß` stays, so `faß.example` is another host than
    /// `fass.example`. What programs read differently is refused. A host in ASCII is what
    /// ``HTTPHost/init(_:)`` makes of it, except that labels with `xn--` have to stand for valid ones.
    ///
    /// - Throws: The ``InternationalHostError`` of a text that is no host.
    public init(international text: String) throws(InternationalHostError) {
        let isInternational = InternationalName.isNeeded(for: text[...])
        let ascii = isInternational ? try InternationalName(text[...]).ascii : text
        do throws(HTTPHostError) {
            // An address has other forms, all of them in ASCII.
            self = isInternational ? .name(try DomainName(ascii)) : try HTTPHost(ascii)
        } catch {
            throw .host(error)
        }
    }
}

extension HTTPURL {
    /// Parses a URL whose host is given as people type it. See ``HTTPHost/init(international:)``; all else is
    /// what ``HTTPURL/init(_:)`` says.
    ///
    /// ```swift
    /// let url = try HTTPURL(international: "https://bücher.example/fächer")
    /// print(url)                                           // https://xn--bcher-kva.example/f%C3%A4cher
    /// ```
    ///
    /// - Throws: The ``InternationalHostError`` of a text that is no URL.
    public init(international text: String) throws(InternationalHostError) {
        guard let place = text.placeOfHost, InternationalName.isNeeded(for: text[place]) else {
            self = try Self.parsed(text)
            return
        }
        let host = try HTTPHost(international: String(text[place]))
        let url = try Self.parsed(text[..<place.lowerBound] + host.description + text[place.upperBound...])
        // The place was found by a second reading, so the first one has to confirm it.
        guard url.host == host else { throw .url(.notHTTP) }
        self = url
    }

    private static func parsed(_ text: String) throws(InternationalHostError) -> HTTPURL {
        do throws(HTTPURLError) { return try HTTPURL(text) } catch { throw .url(error) }
    }
}

extension String {
    /// The place of the host in a URL, without port and trailing dot; `nil` if it is an address in brackets,
    /// or there is none.
    fileprivate var placeOfHost: Range<Index>? {
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")), utf8[colon...].starts(with: "://".utf8)
        else {
            return nil
        }
        let slashes = utf8.index(colon, offsetBy: 3)
        let authority = utf8[slashes...].prefix { !"/?#\\".utf8.contains($0) }
        let start = authority.lastIndex(of: UInt8(ascii: "@")).map { utf8.index(after: $0) }
        var host = authority[(start ?? authority.startIndex)...].prefix { $0 != UInt8(ascii: ":") }
        guard let first = host.first, first != UInt8(ascii: "[") else { return nil }
        if host.last == UInt8(ascii: ".") { host = host.dropLast() }
        return host.startIndex..<host.endIndex
    }
}
