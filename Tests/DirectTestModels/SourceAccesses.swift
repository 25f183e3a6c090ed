#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// An access to an atomic, in the source or in a model.
package struct AtomicAccess: Hashable, Sendable, CustomStringConvertible {
    /// The function that it is in, the place, and the operation, as the source has them: `signal
    /// word.exchange`. The second one of them in a function ends in ` 2`.
    package let text: String
    package let order: MemoryOrder

    package init(_ text: String, _ order: MemoryOrder) {
        self.text = text
        self.order = order
    }

    package var description: String { "\(text), \(order)" }

    /// The accesses to these places in a source file, in its order.
    ///
    /// A model names the accesses that it stands for, with their orders. Its test compares them with those of
    /// the source, so that neither changes alone.
    ///
    /// - Parameter path: The path in `Sources`.
    package static func all(in path: String, to places: Set<String>, test: String = #filePath) -> [Self] {
        let text = contents(of: root(test) + "/Sources/" + path)
        var (function, pending) = ("", "")
        var found: [Self] = []
        for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
            if let name = line.firstMatch(of: /^    (?:[a-z]+ )*(?:func|var|init) ?(\w*)/) {
                function = String(name.1)
            }
            for match in line.matches(
                of: /(\w+)\.(load|store|exchange|compareExchange|weakCompareExchange)\(/
            ) {
                pending = places.contains(String(match.1)) ? "\(function) \(match.1).\(match.2)" : ""
            }
            guard !pending.isEmpty, let order = line.firstMatch(of: /ordering: \.(\w+)/),
                let order = MemoryOrder(rawValue: String(order.1))
            else { continue }
            let times = found.count { $0.text == pending || $0.text.hasPrefix(pending + " ") }
            found.append(Self(times == 0 ? pending : "\(pending) \(times + 1)", order))
            pending = ""
        }
        return found
    }

    /// The folder of the package, above the one with the tests.
    private static func root(_ test: String) -> Substring {
        test.range(of: "/Tests/").map { test[..<$0.lowerBound] } ?? ""
    }

    private static func contents(of path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    /// The first place of a text in this one.
    fileprivate func range(of text: String) -> Range<Index>? { firstRange(of: text) }
}
