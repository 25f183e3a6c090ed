/// The header fields of a message: ordered, with duplicates and spelling kept, names compared without case.
///
/// Fields live as bytes in one block; text is made when asked for. A value that is not UTF-8 is given as
/// Latin-1, so that no byte is lost.
public struct Headers: @unchecked Sendable {
    /// One field line.
    public struct Field: Hashable, Sendable {
        /// The name as it was spelled.
        public var name: String
        /// The value without the whitespace around it.
        public var value: String

        /// A field of that name and value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// None while there are no fields.
    var block: HeaderBlock?

    init(block: HeaderBlock?) {
        self.block = block
    }

    /// No fields.
    public init() {
        block = nil
    }

    /// The same fields in the same order.
    public init(_ fields: some Sequence<(name: String, value: String)>) {
        self.init()
        for field in fields { add(field.name, field.value) }
    }

    /// The value of the first field of that name; setting replaces all fields of that name, or removes them.
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

    /// The values of all fields of that name, each by itself and in order.
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

    /// Whether there is a field of that name.
    public func contains(_ name: String) -> Bool {
        index(of: name) != nil
    }

    /// Adds a field behind the others.
    public mutating func add(_ name: String, _ value: String) {
        unsafe withBytes(of: name) { name in
            unsafe withBytes(of: value) { value in
                unsafe add(name: name, value: value)
            }
        }
    }

    /// Adds a field whose value need not be text.
    package mutating func add(_ name: String, bytes value: [UInt8]) {
        unsafe withBytes(of: name) { name in
            unsafe value.withUnsafeBufferPointer { value in
                unsafe add(name: name, value: value)
            }
        }
    }

    /// Removes all fields of that name.
    public mutating func remove(_ name: String) {
        guard contains(name) else { return }
        let block = ownBlock()
        unsafe withBytes(of: name) { name in
            block.removeFields { unsafe block.name(at: $0).equalsIgnoringCase(name) }
        }
    }

    /// Makes room for so many more fields, whose names and values have so many bytes together.
    public mutating func reserve(fields: Int, bytes: Int) {
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

    /// The block, copied first if another value shares it.
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
