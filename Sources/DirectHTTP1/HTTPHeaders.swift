/// The header fields of a message: ordered, with duplicates and original spelling. Names are compared
/// ignoring case.
///
/// The fields are stored as bytes in one block and converted to text on access. A value that is not UTF-8 is
/// decoded as Latin-1, so that no byte is lost.
public struct HTTPHeaders: @unchecked Sendable {
    /// One field line.
    public struct Field: Hashable, Sendable {
        /// The name in its original spelling.
        public var name: String
        /// The value without surrounding whitespace.
        public var value: String

        /// Creates a field with this name and value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The storage; `nil` while there are no fields.
    var block: HeaderBlock?

    init(block: HeaderBlock?) {
        self.block = block
    }

    /// Creates headers without fields.
    public init() {
        block = nil
    }

    /// Creates headers with these fields, in this order.
    public init(_ fields: some Sequence<(name: String, value: String)>) {
        self.init()
        for field in fields { add(field.name, field.value) }
    }

    /// The value of the first field with this name, ignoring case. Setting it replaces all fields with this
    /// name; setting `nil` removes them.
    public subscript(name: String) -> String? {
        get {
            guard let block, let index = index(of: name) else { return nil }
            return unsafe String(fieldText: block.value(at: index))
        }
        set {
            remove(name)
            if let newValue { add(name, newValue) }
        }
    }

    /// Returns the values of all fields with this name, one for each field, in order.
    public func values(for name: String) -> [String] {
        guard let block else { return [] }
        return unsafe withBytes(of: name) { name in
            var values: [String] = []
            for index in 0..<block.counts.fields where unsafe block.name(at: index).equalsIgnoringCase(name) {
                unsafe values.append(String(fieldText: block.value(at: index)))
            }
            return values
        }
    }

    /// Whether there is a field with this name.
    public func contains(_ name: String) -> Bool {
        index(of: name) != nil
    }

    /// The names of all fields, in lower case.
    package var lowercasedNames: Set<String> { Set(lazy.map { $0.name.lowercased() }) }

    /// Appends a field. A field that may not be sent is refused when the request is written.
    public mutating func add(_ name: String, _ value: String) {
        unsafe withBytes(of: name) { name in
            unsafe withBytes(of: value) { value in
                unsafe add(name: name, value: value)
            }
        }
    }

    /// Appends a field whose value need not be text.
    package mutating func add(_ name: String, bytes value: [UInt8]) {
        unsafe withBytes(of: name) { name in
            unsafe value.withUnsafeBufferPointer { value in
                unsafe add(name: name, value: value)
            }
        }
    }

    /// Replaces all fields with this name by one whose value need not be text.
    package mutating func set(_ name: String, bytes value: [UInt8]) {
        remove(name)
        add(name, bytes: value)
    }

    /// Appends a field of other headers, byte for byte.
    package mutating func add(fieldAt position: Int, of other: HTTPHeaders) {
        guard let block = other.block, position < block.counts.fields else { return }
        unsafe add(name: block.name(at: position), value: block.value(at: position))
    }

    /// Appends those fields of other headers whose names these do not have.
    package mutating func complete(with fields: HTTPHeaders) {
        let own = self
        for index in fields.indices where !own.contains(fields[index].name) {
            add(fieldAt: index, of: fields)
        }
    }

    /// Removes all fields with this name.
    public mutating func remove(_ name: String) {
        guard contains(name) else { return }
        let block = ownBlock()
        unsafe withBytes(of: name) { name in
            block.removeFields { unsafe block.name(at: $0).equalsIgnoringCase(name) }
        }
    }

    /// Reserves room for more fields.
    ///
    /// - Parameters:
    ///   - fields: The number of fields to be added.
    ///   - bytes: The length of their names and values together.
    package mutating func reserve(fields: Int, bytes: Int) {
        let counts = block?.counts
        let fieldCapacity = (counts?.fields ?? 0) + fields
        let byteCapacity = (counts?.bytes ?? 0) + bytes + fields * HeaderBlock.lineOverhead
        guard let block else {
            block = .make(fieldCapacity: fieldCapacity, byteCapacity: byteCapacity)
            return
        }
        if block.counts.fieldCapacity < fieldCapacity || block.counts.byteCapacity < byteCapacity {
            self.block = block.copy(fieldCapacity: fieldCapacity, byteCapacity: byteCapacity)
        }
    }

    private mutating func add(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let count = name.count + value.count + HeaderBlock.lineOverhead
        let isAlone = isKnownUniquelyReferenced(&block)
        let roomy =
            block?.withRoom(forLine: count, unique: isAlone)
            ?? .make(fieldCapacity: 4, byteCapacity: Swift.max(count, 96))
        unsafe roomy.append(name: name, value: value)
        block = roomy
    }

    /// Returns the block, copied first if another value shares it.
    private mutating func ownBlock() -> HeaderBlock {
        if isKnownUniquelyReferenced(&block), let block { return block }
        let own = block?.copy(fieldCapacity: 0, byteCapacity: 0) ?? .make(fieldCapacity: 0, byteCapacity: 0)
        block = own
        return own
    }

    private func index(of name: String) -> Int? {
        guard let block else { return nil }
        return unsafe withBytes(of: name) { name in
            (0..<block.counts.fields).first { unsafe block.name(at: $0).equalsIgnoringCase(name) }
        }
    }

    @inline(__always)
    private func withBytes<Result>(
        of text: String,
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        var text = text
        return text.withUTF8 { unsafe body($0) }
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { 0 }

    /// The number of fields.
    public var endIndex: Int { block?.counts.fields ?? 0 }

    /// The field at that position, with its name and value converted to text.
    public subscript(position: Int) -> Field {
        guard let block, position >= 0, position < block.counts.fields else {
            preconditionFailure("there is no field at that position")
        }
        return unsafe Field(
            name: String(fieldText: block.name(at: position)),
            value: String(fieldText: block.value(at: position))
        )
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Creates headers with these fields, in this order and with duplicates.
    public init(dictionaryLiteral fields: (String, String)...) {
        self.init()
        for (name, value) in fields { add(name, value) }
    }
}

extension HTTPHeaders: Hashable {
    /// Whether both have the same fields in the same order. Names are compared ignoring case.
    public static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool {
        guard let mine = left.block, let others = right.block else { return left.isEmpty && right.isEmpty }
        if mine === others { return true }
        guard left.count == right.count else { return false }
        return left.indices.allSatisfy { index in
            unsafe mine.name(at: index).equalsIgnoringCase(others.name(at: index))
                && mine.value(at: index).elementsEqual(others.value(at: index))
        }
    }

    /// Hashes the names, ignoring case, and the values.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        guard let block else { return }
        for index in indices {
            let name = unsafe block.name(at: index)
            for position in 0..<name.count { unsafe hasher.combine(name[position].lowercased) }
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(block.value(at: index)))
            hasher.combine(UInt8.lineFeed)
        }
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The names of the fields. Values are left out because they may be secret.
    public var description: String {
        "[" + map(\.name).joined(separator: ", ") + "]"
    }
}

/// Access to names and values as bytes. `name` is given in lower case.
extension HTTPHeaders {
    /// Returns the index of the first field with this name, from `start` on.
    package func index(of name: StaticString, from start: Int = 0) -> Int? {
        guard let block else { return nil }
        let count = name.utf8CodeUnitCount
        for index in start..<block.counts.fields {
            let place = unsafe block.places[index]
            guard place.nameCount == count else { continue }
            let bytes = unsafe block.bytes + Int(place.nameStart)
            if unsafe bytes.pointee.lowercased == name.utf8Start.pointee,
                unsafe UnsafePointer(bytes).spells(name, count: count)
            {
                return index
            }
        }
        return nil
    }

    /// Returns the bytes of the value at `index`, which must be a field's index.
    package func valueBytes(at index: Int) -> [UInt8] {
        guard let block, index < block.counts.fields else { return [] }
        return unsafe Array(block.value(at: index))
    }

    /// Calls `body` with the bytes of the value at `index`, which must be a field's index.
    package func withValue(at index: Int, _ body: (Span<UInt8>) -> Void) {
        guard let block, index < block.counts.fields else { return }
        unsafe body(block.value(at: index).span)
    }

    /// Whether the comma-separated lists in all fields with this name contain the element, ignoring case.
    package func lists(_ element: StaticString, in name: StaticString) -> Bool {
        guard let block else { return false }
        var next = index(of: name)
        while let index = next {
            var elements = unsafe ListElements(block.value(at: index))
            while let found = unsafe elements.next() {
                if unsafe found.bytes.spells(element, count: found.count) { return true }
            }
            next = self.index(of: name, from: index + 1)
        }
        return false
    }
}

extension UnsafeBufferPointer<UInt8> {
    @inline(__always)
    func equalsIgnoringCase(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for position in 0..<count {
            guard unsafe self[position].lowercased == other[position].lowercased else { return false }
        }
        return true
    }
}

extension String {
    /// Decodes a part of a field's value like the value as a whole.
    package init(fieldText bytes: [UInt8]) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe String(fieldText: $0) }
    }

    /// Decodes a field's bytes as UTF-8, or, if they are not valid UTF-8, as Latin-1, in which every byte is
    /// a character.
    init(fieldText bytes: UnsafeBufferPointer<UInt8>) {
        if let text = unsafe String(validating: bytes, as: UTF8.self) {
            self = text
        } else {
            self = unsafe String(decoding: bytes.lazy.map(UInt16.init), as: UTF16.self)
        }
    }
}
