internal import DirectJSON

/// The decoder of all JSON files and lines. An error says its line and the members that lead to it.
///
/// The initialisers that Swift makes for structs read their members from it. Each member of the object must
/// be asked for, and null is not the same as an absent member. All other types read the value themselves: see
/// ``FromJSON``.
final class StrictDecoder: Decoder {
    let value: JSONValue
    /// Whether each member was asked for. `nil` if none was.
    private var isAsked: [Bool]?

    private init(_ value: JSONValue) {
        self.value = value
    }

    static func decode<T: Decodable>(_ type: T.Type = T.self, from value: JSONValue) throws(FieldError) -> T {
        if let type = type as? any FromJSON.Type, let result = try type.init(value) as? T { return result }
        let decoder = StrictDecoder(value)
        do {
            let result = try T(from: decoder)
            try decoder.end()
            if let fault = (result as? any Checked)?.fault { throw value.fault(fault) }
            return result
        } catch let error as FieldError {
            throw error
        } catch {
            throw value.fault("\(error)")
        }
    }

    /// Reads a member. Returns `nil` if it is absent.
    func optional<T: Decodable>(_ name: String, as type: T.Type = T.self) throws(FieldError) -> T? {
        guard let member = try member(name) else { return nil }
        do throws(FieldError) {
            return try Self.decode(type, from: member)
        } catch {
            throw FieldError(line: error.line, what: "\(name): \(error.what)")
        }
    }

    /// Reads a member that must be present, unless its type has a value for the absence.
    func required<T: Decodable>(_ name: String, as type: T.Type = T.self) throws(FieldError) -> T {
        if let value = try optional(name, as: type) { return value }
        if let type = type as? any MayBeAbsent.Type, let value = type.init() as? T { return value }
        throw value.missing(name)
    }

    /// Returns a member without decoding it.
    fileprivate func member(_ name: String) throws(FieldError) -> JSONValue? {
        let members = try open()
        guard let index = members.firstIndex(where: { $0.name == name }) else { return nil }
        isAsked?[index] = true
        return members[index].value
    }

    /// Returns the members. From now on each must be asked for.
    private func open() throws(FieldError) -> [JSONValue.Member] {
        let members = try value.members()
        if isAsked == nil { isAsked = Array(repeating: false, count: members.count) }
        return members
    }

    /// Throws if a member was not asked for.
    private func end() throws(FieldError) {
        guard let index = isAsked?.firstIndex(of: false) else { return }
        let member = try value.members()[index]
        throw member.value.fault("there is no field \"\(member.name)\"")
    }

    // MARK: Decoder

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        _ = try open()
        return KeyedDecodingContainer(Members(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unsupported }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw unsupported }

    /// The error for a type that is neither a struct of members nor reads JSON itself.
    fileprivate var unsupported: FieldError { value.fault("the program cannot read this type of value") }
}

/// The members of an object, for the initialisers that Swift makes.
private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: StrictDecoder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { (try? decoder.member(key.stringValue)) != nil }

    /// Never: Swift would take null for an absent member. A type that allows null reads it itself.
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if type is any Inlined.Type { return try T(from: decoder) }
        return try decoder.required(key.stringValue, as: type)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> { throw decoder.unsupported }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw decoder.unsupported
    }

    func superDecoder() throws -> any Decoder { throw decoder.unsupported }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw decoder.unsupported }
}
