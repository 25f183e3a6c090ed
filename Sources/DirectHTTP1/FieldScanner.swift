/// Reads the value of a field from its beginning: the elements of a list, and in them tokens, quoted strings
/// and directives (RFC 9110, section 5.6).
package struct FieldScanner: Sendable {
    /// The bytes that have not been read yet.
    package private(set) var rest: ArraySlice<UInt8>

    /// Creates a scanner at the beginning of a value.
    package init(_ bytes: some Sequence<UInt8>) {
        rest = Array(bytes)[...]
    }

    /// A name, and what follows it behind an equals sign.
    package struct Directive: Equatable, Sendable {
        /// The argument of a directive.
        package enum Argument: Equatable, Sendable {
            case none
            case text([UInt8])
            /// It does not match the grammar.
            case broken
        }

        /// The name in lower case.
        package let name: String
        /// The bytes behind the name.
        package let argument: Argument
    }

    /// Reads up to the next separator outside of quoted strings; returns `nil` at the end. Empty elements,
    /// which a recipient has to ignore (RFC 9110, section 5.6.1.2), are skipped.
    ///
    /// - Parameter hasEscapes: Whether a backslash in quotes escapes the next byte. In entity tags it does
    ///   not (section 8.8.3).
    package mutating func element(before separator: UInt8 = .comma, hasEscapes: Bool = true) -> FieldScanner?
    {
        while !rest.isEmpty {
            let end = endOfElement(before: separator, hasEscapes: hasEscapes)
            let element = FieldScanner(rest[..<end].trimmingBlanks)
            rest = rest[end...].dropFirst()
            if !element.rest.isEmpty { return element }
        }
        return nil
    }

    private func endOfElement(before separator: UInt8, hasEscapes: Bool) -> Int {
        var isQuoted = false
        var position = rest.startIndex
        while position < rest.endIndex {
            switch rest[position] {
            case separator where !isQuoted: return position
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "\\") where isQuoted && hasEscapes: position += 1
            default: break
            }
            position += 1
        }
        return rest.endIndex
    }

    /// Reads an element as a directive: `name`, `name=token` or `name="quoted string"`; `nil` if it has no
    /// name.
    ///
    /// - Parameter allowsBlanks: Whether there may be blanks around the equals sign.
    package mutating func directive(allowsBlanks: Bool) -> Directive? {
        guard let name = token() else { return nil }
        if allowsBlanks { skipBlanks() }
        var argument = Directive.Argument.none
        if take(UInt8(ascii: "=")) {
            if allowsBlanks { skipBlanks() }
            argument = value().map { .text($0) } ?? .broken
        }
        if !rest.isEmpty { argument = .broken }
        return Directive(name: name.lowercased(), argument: argument)
    }

    /// Whether a name and an equals sign come next.
    package var isAtParameter: Bool {
        var ahead = self
        guard ahead.token() != nil else { return false }
        ahead.skipBlanks()
        return ahead.take(UInt8(ascii: "="))
    }

    private mutating func value() -> [UInt8]? {
        guard rest.first == UInt8(ascii: "\"") else { return token().map { Array($0.utf8) } }
        let (text, isClosed) = quotedString()
        return isClosed ? text : nil
    }

    /// Reads a token; `nil` if none comes next.
    package mutating func token() -> String? {
        let token = read(while: \.isTokenCharacter)
        return token.isEmpty ? nil : token
    }

    /// Reads the bytes that come next and satisfy the predicate.
    package mutating func read(while isWanted: (UInt8) -> Bool) -> String {
        let text = rest.prefix(while: isWanted)
        rest = rest[text.endIndex...]
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads a quoted string, whose opening quote comes next, and returns its content and whether it ends
    /// with a quote.
    package mutating func quotedString() -> (text: [UInt8], isClosed: Bool) {
        rest = rest.dropFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return (text, true) }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard let escaped = rest.popFirst() else { break }
            text.append(escaped)
        }
        return (text, false)
    }

    /// Reads the byte if it comes next, and returns whether it did.
    package mutating func take(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Reads blanks, and returns whether there were any.
    @discardableResult
    package mutating func skipBlanks() -> Bool {
        let hasBlanks = rest.first?.isBlank == true
        rest = rest.drop(while: \.isBlank)
        return hasBlanks
    }
}

extension ArraySlice<UInt8> {
    fileprivate var trimmingBlanks: ArraySlice<UInt8> {
        var rest = drop(while: \.isBlank)
        while rest.last?.isBlank == true { rest.removeLast() }
        return rest
    }
}

extension HTTPHeaders {
    /// The elements of the lists in all fields with this name, which is given in lower case.
    package func elements(of name: StaticString) -> [String] {
        var elements: [String] = []
        var next = index(of: name)
        while let index = next {
            var list = FieldScanner(valueBytes(at: index))
            while let element = list.element() {
                elements.append(String(decoding: element.rest, as: UTF8.self))
            }
            next = self.index(of: name, from: index + 1)
        }
        return elements
    }

    /// Whether a content coding was applied, as far as the fields say so: `identity` says that none was.
    package var hasCodedContent: Bool {
        elements(of: "content-encoding").contains { $0.lowercased() != "identity" }
    }
}
