@testable import DirectCore

extension FuzzTarget {
    /// Configurations of Encrypted Client Hello.
    ///
    /// - A list that is taken offers one of its own configurations, under that one's public name, and nothing
    ///   else.
    /// - A public name has letters, digits, hyphens and dots only.
    /// - No part of a list from its beginning is a list, nor is a list with a byte more.
    static let ech = FuzzTarget(name: "ech") { choices in
        let bytes = choices.rest()
        guard let list = try? ECHConfigList(bytes) else { return }
        guard let offered = try? ECHConfigList(list.offered) else {
            return require(false, "what is offered is a list")
        }
        requireEqual(offered.offered, list.offered, "one configuration")
        requireEqual(offered.publicName, list.publicName, "the public name")
        let body = list.offered.dropFirst(2)
        require(bytes.indices.contains { bytes[$0...].starts(with: body) }, "a part of the list")
        let name = list.publicName.description
        require(!name.isEmpty && name.utf8.allSatisfy(isOfName), "letters, digits, hyphens, dots")
        for wrong in [bytes.dropLast(), bytes + [0]] {
            require((try? ECHConfigList(Array(wrong))) == nil, "the length counts")
        }
    }
}

private func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
}
