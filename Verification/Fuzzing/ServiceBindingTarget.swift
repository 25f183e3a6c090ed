@testable import DirectCore
@testable import DirectResolvers

extension FuzzTarget {
    /// The data of HTTPS records.
    ///
    /// - It is read exactly if it has the form of RFC 9460, section 2.2, as a simple parser sees it, also as
    ///   bytes in a text.
    /// - Each hint is in the data, and what can be used has http/1.1 and no port 0.
    /// - Any text is a record or none.
    static let svcb = FuzzTarget(name: "svcb") { choices in
        let bytes = choices.rest()
        let binding = ServiceBinding(bytes)
        requireEqual(binding != nil, isWellFormed(bytes), "the form of a record")
        requireEqual(
            ServiceBinding(text: "\\# \(bytes.count) \(Hex.encode(bytes))"),
            binding,
            "the same in a text"
        )
        let text = ServiceBinding(text: bytes.text)
        for binding in [binding, text].compactMap({ $0 }) where binding.isUsable && binding.priority > 0 {
            require(binding.protocols.contains(Array("http/1.1".utf8)) && binding.port != 0, "usable")
        }
        for hint in binding?.hints ?? [] {
            require(bytes.indices.contains { bytes[$0...].starts(with: hint.bytes) }, "a hint of the record")
        }
    }
}

private func isWellFormed(_ bytes: [UInt8]) -> Bool {
    guard bytes.count > 2 else { return false }
    var rest = bytes[2...]
    var size = 0
    while let label = rest.popFirst() {
        size += Int(label) + 1
        guard label < 64, size <= 255, rest.count >= label else { return false }
        rest = rest.dropFirst(Int(label))
        if label == 0 { return bytes[0] == 0 && bytes[1] == 0 || areParameters(rest) }
    }
    return false
}

private func areParameters(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    var last = -1
    while !rest.isEmpty {
        guard rest.count >= 4 else { return false }
        let numbers = rest.prefix(4).map(Int.init)
        let (key, length) = (numbers[0] << 8 | numbers[1], numbers[2] << 8 | numbers[3])
        rest = rest.dropFirst(4)
        guard key > last, rest.count >= length, isValue(Array(rest.prefix(length)), of: key) else {
            return false
        }
        rest = rest.dropFirst(length)
        last = key
    }
    return true
}

private func isValue(_ value: [UInt8], of key: Int) -> Bool {
    switch key {
    case 0:
        let keys = stride(from: 0, to: value.count - 1, by: 2).map {
            Int(value[$0]) << 8 | Int(value[$0 + 1])
        }
        return !value.isEmpty && value.count % 2 == 0 && keys == Set(keys).sorted() && keys.first != 0
    case 1:
        var rest = value[...]
        while let length = rest.popFirst() {
            guard length > 0, rest.count >= length else { return false }
            rest = rest.dropFirst(Int(length))
        }
        return !value.isEmpty
    case 2: return value.isEmpty
    case 3: return value.count == 2
    case 4: return !value.isEmpty && value.count % 4 == 0
    case 6: return !value.isEmpty && value.count % 16 == 0
    case 5:
        do throws(ECHConfigError) { _ = try ECHConfigList(value) } catch { return error != .malformed }
        return true
    default: return true
    }
}
