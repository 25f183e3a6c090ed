/// URLs made of their parts. A value put into a URL as text can become another part of it: `items/\(id)` with
/// an `id` of `../admin?all` is a request for something else. Here each value stays inside its part, whatever
/// it contains.
///
/// All bytes but the unreserved ones (letters, digits and `-._~`) are escaped, also those that the grammar
/// allows in the part: servers read some of them as syntax, such as `;` in a path or `+` in a query.
extension HTTPURL {
    /// Makes a URL of its parts.
    ///
    /// - Parameters:
    ///   - scheme: The scheme.
    ///   - host: The name or the address literal.
    ///   - port: The port; `nil` for the scheme's default port.
    ///   - path: The components of the path, as ``appending(path:endsWithSlash:)-([String],_)`` takes them.
    ///   - queryItems: The items of the query. If there are none, the URL has no query.
    ///   - fragment: The fragment, which is escaped. It is never sent.
    /// - Throws: The ``HTTPURLError`` of a value that cannot be part of a URL.
    public init(
        _ scheme: Scheme,
        host: HTTPHost,
        port: UInt16? = nil,
        path: [String] = [],
        queryItems: [QueryItem] = [],
        fragment: String? = nil
    ) throws(HTTPURLError) {
        let origin = Origin(scheme: scheme, host: host, port: port ?? scheme.defaultPort)
        let root = HTTPURL(Storage(authority: URLAuthority(origin), target: .root, fragment: nil))
        self = try root.appending(path: path).appending(queryItems: queryItems).replacing(fragment: fragment)
    }

    /// Makes a URL of its parts, with the host as text.
    ///
    /// - Parameters:
    ///   - scheme: The scheme.
    ///   - host: A name, an IPv4 address, or an IPv6 address with or without brackets. No port.
    ///   - port: The port; `nil` for the scheme's default port.
    ///   - path: The components of the path, as ``appending(path:endsWithSlash:)-([String],_)`` takes them.
    ///   - queryItems: The items of the query. If there are none, the URL has no query.
    ///   - fragment: The fragment, which is escaped. It is never sent.
    /// - Throws: The ``HTTPURLError`` of a value that cannot be part of a URL.
    public init(
        _ scheme: Scheme,
        host: String,
        port: UInt16? = nil,
        path: [String] = [],
        queryItems: [QueryItem] = [],
        fragment: String? = nil
    ) throws(HTTPURLError) {
        let name: HTTPHost
        do throws(HTTPHostError) { name = try HTTPHost(host) } catch { throw .host(error) }
        try self.init(
            scheme,
            host: name,
            port: port,
            path: path,
            queryItems: queryItems,
            fragment: fragment
        )
    }

    /// Returns the URL with components added to its path, before its query.
    ///
    /// Each value is one component, whatever it contains: a slash in it is escaped, and so are `%`, `?` and
    /// `#`. Components of several segments are therefore written apart: `appending(path: "items", id,
    /// "images")`.
    ///
    /// - Parameters:
    ///   - components: The components, unescaped. None may be empty, `.` or `..`, or contain NUL.
    ///   - endsWithSlash: Whether a slash follows the last component.
    /// - Throws: ``HTTPURLError/emptyPathComponent``, ``HTTPURLError/dotPathComponent``,
    ///   ``HTTPURLError/nulCharacter`` or ``HTTPURLError/tooLong(limit:)``.
    public func appending(
        path components: String...,
        endsWithSlash: Bool = false
    ) throws(HTTPURLError) -> HTTPURL {
        try appending(path: components, endsWithSlash: endsWithSlash)
    }

    /// Returns the URL with components added to its path, before its query.
    ///
    /// - Parameters:
    ///   - components: The components, unescaped. None may be empty, `.` or `..`, or contain NUL.
    ///   - endsWithSlash: Whether a slash follows the last component.
    /// - Throws: ``HTTPURLError/emptyPathComponent``, ``HTTPURLError/dotPathComponent``,
    ///   ``HTTPURLError/nulCharacter`` or ``HTTPURLError/tooLong(limit:)``.
    public func appending(
        path components: [String],
        endsWithSlash: Bool = false
    ) throws(HTTPURLError) -> HTTPURL {
        var path = Array(targetBytes[..<pathLength])
        for component in components {
            try Self.checkComponent(component)
            if path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
            path.appendEscaped(Array(component.utf8), where: \.isUnreserved)
        }
        if endsWithSlash, path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
        let target = URLTarget(bytes: path + targetBytes[pathLength...], pathLength: path.count)
        return try with(target: target)
    }

    /// Refuses components that no escaping keeps in their place.
    private static func checkComponent(_ component: String) throws(HTTPURLError) {
        guard !component.isEmpty else { throw .emptyPathComponent }
        // `%2e` is a dot segment as well (WHATWG URL Standard, section 4.1), so there is no way to write
        // these.
        guard component != ".", component != ".." else { throw .dotPathComponent }
        try checkValue(component)
    }

    private static func checkValue(_ text: String) throws(HTTPURLError) {
        guard !text.utf8.contains(0) else { throw .nulCharacter }
    }

    /// Returns the URL with another fragment, which is escaped; `nil` for none.
    ///
    /// - Throws: ``HTTPURLError/nulCharacter`` or ``HTTPURLError/tooLong(limit:)``.
    public func replacing(fragment: String?) throws(HTTPURLError) -> HTTPURL {
        try Self.checkValue(fragment ?? "")
        let escaped = fragment.map { text in
            var bytes: [UInt8] = []
            bytes.appendEscaped(Array(text.utf8)) { $0.isAllowedInFragment && $0 != UInt8(ascii: "%") }
            return String(decoding: bytes, as: UTF8.self)
        }
        let (authority, target) = (storage.authority, storage.target)
        return try HTTPURL(Storage(authority: authority, target: target, fragment: escaped)).withinLimit()
    }

    private func with(target: URLTarget) throws(HTTPURLError) -> HTTPURL {
        let (authority, fragment) = (storage.authority, storage.fragment)
        return try HTTPURL(Storage(authority: authority, target: target, fragment: fragment)).withinLimit()
    }

    /// Returns the URL; throws if the parser would refuse its text as too long.
    private func withinLimit() throws(HTTPURLError) -> HTTPURL {
        guard text.utf8.count <= URLParts.maximumLength else {
            throw .tooLong(limit: URLParts.maximumLength)
        }
        return self
    }
}

extension HTTPURL {
    /// An item of a query, unescaped.
    public struct QueryItem: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value; `nil` for a name without equals sign.
        public var value: String?

        /// Makes an item of a query.
        public init(_ name: String, _ value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The items of the query, unescaped, as servers read a form (WHATWG URL Standard, section 5.1): a `+` is
    /// a space, and bytes that are not UTF-8 become U+FFFD. Empty if there is no query.
    public var queryItems: [QueryItem] {
        let query = query ?? ""
        return query.utf8.split(separator: UInt8(ascii: "&")).map { item in
            let equals = item.firstIndex(of: UInt8(ascii: "="))
            let value = equals.map { Self.formDecoded(item[$0...].dropFirst()) }
            return QueryItem(Self.formDecoded(item[..<(equals ?? item.endIndex)]), value)
        }
    }

    private static func formDecoded(_ text: Substring.UTF8View) -> String {
        let spaced = text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(decoding: unescaped(String(decoding: spaced, as: UTF8.self)[...].utf8), as: UTF8.self)
    }

    /// Returns the URL with items added to its query, after those that it has.
    ///
    /// A space is written `%20` and a plus sign `%2B`, which every server reads alike.
    ///
    /// - Throws: ``HTTPURLError/nulCharacter`` or ``HTTPURLError/tooLong(limit:)``.
    public func appending(queryItems: [QueryItem]) throws(HTTPURLError) -> HTTPURL {
        guard !queryItems.isEmpty else { return self }
        var bytes = targetBytes
        if bytes.count == pathLength { bytes.append(UInt8(ascii: "?")) }
        for item in queryItems {
            try Self.checkValue(item.name)
            try Self.checkValue(item.value ?? "")
            // Not between the question mark and the first item.
            if bytes.count > pathLength + 1 { bytes.append(UInt8(ascii: "&")) }
            bytes.append(item)
        }
        return try with(target: URLTarget(bytes: bytes, pathLength: pathLength))
    }

    /// Returns the URL with items added to its query, after those that it has:
    /// `appending(query: ["q": text, "page": "2"])`.
    ///
    /// - Throws: ``HTTPURLError/nulCharacter`` or ``HTTPURLError/tooLong(limit:)``.
    public func appending(query: KeyValuePairs<String, String>) throws(HTTPURLError) -> HTTPURL {
        try appending(queryItems: query.map { QueryItem($0.key, $0.value) })
    }

    /// Returns the URL with these items as its whole query; without a query if there are none.
    ///
    /// - Throws: ``HTTPURLError/nulCharacter`` or ``HTTPURLError/tooLong(limit:)``.
    public func replacing(queryItems: [QueryItem]) throws(HTTPURLError) -> HTTPURL {
        let path = Array(targetBytes[..<pathLength])
        return try with(target: URLTarget(bytes: path, pathLength: pathLength)).appending(
            queryItems: queryItems
        )
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ item: HTTPURL.QueryItem) {
        appendEscaped(Array(item.name.utf8), where: \.isUnreserved)
        // Without the equals sign an item without name and value would be no item.
        guard item.value != nil || item.name.isEmpty else { return }
        append(UInt8(ascii: "="))
        appendEscaped(Array((item.value ?? "").utf8), where: \.isUnreserved)
    }

    fileprivate mutating func appendEscaped(_ text: [UInt8], where stands: (UInt8) -> Bool) {
        text.withSpan { appendEscaped($0, where: stands) }
    }
}
