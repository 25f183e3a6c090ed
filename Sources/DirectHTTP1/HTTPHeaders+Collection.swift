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
