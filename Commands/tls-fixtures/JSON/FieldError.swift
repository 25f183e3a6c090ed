internal import DirectJSON

/// A value in a JSON file that does not fit the schema.
struct FieldError: Error, Equatable, CustomStringConvertible {
    var line: Int
    var what: String

    var description: String { "line \(line): \(what)" }
}

extension JSONValue {
    /// Returns an error at this value.
    func fault(_ what: String) -> FieldError { FieldError(line: line, what: what) }

    /// Returns an error that says what was expected instead of this value.
    func wrong(_ wanted: String) -> FieldError { fault("expected \(wanted), found \(kind)") }

    /// Returns an error that says that a word is not one of `known`.
    func unknown(_ word: String, known: String) -> FieldError { fault("\"\(word)\" is not one of \(known)") }

    /// Returns an error that says that this object lacks a member.
    func missing(_ name: String) -> FieldError { fault("the field \"\(name)\" is missing") }

    func text() throws(FieldError) -> String {
        guard case .string(let text) = content else { throw wrong("a string") }
        return text
    }

    /// Returns the bytes for which the characters of the text stand (Latin-1).
    func bytes() throws(FieldError) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in try text().unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else {
                throw fault("U+\(String(scalar.value, radix: 16)) is not a byte")
            }
            bytes.append(byte)
        }
        return bytes
    }

    func elements() throws(FieldError) -> [JSONValue] {
        guard case .array(let elements) = content else { throw wrong("an array") }
        return elements
    }

    func members() throws(FieldError) -> [Member] {
        guard case .object(let members) = content else { throw wrong("an object") }
        return members
    }

    /// Returns one member of an object, which may have others.
    func member(_ name: String) throws(FieldError) -> JSONValue {
        guard let member = try members().first(where: { $0.name == name }) else {
            throw missing(name)
        }
        return member.value
    }
}
