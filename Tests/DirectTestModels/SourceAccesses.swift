#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// An access to an atomic, or a section under a lock, in the source or in a model.
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

    /// The accesses to these places in a source file, in its order. A section under a lock (`withLock`) is
    /// one of them, as strong as can be, so that no access moves from before it to behind it.
    ///
    /// A model names the accesses that it stands for, with their orders. Its test compares them with those of
    /// the source, so that neither changes alone.
    ///
    /// - Parameter path: The path in `Sources`.
    package static func all(in path: String, to places: Set<String>, test: String = #filePath) -> [Self] {
        let text = contents(of: root(test) + "/Sources/" + path)
        var (function, pending) = ("", "")
        var found: [Self] = []
        func add(_ text: String, _ order: MemoryOrder) {
            let times = found.count { $0.text == text || $0.text.hasPrefix(text + " ") }
            found.append(Self(times == 0 ? text : "\(text) \(times + 1)", order))
        }
        for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
            if let name = line.firstMatch(of: /^    (?:[a-z]+ )*(?:func|var|init) ?(\w*)/) {
                function = String(name.1)
            }
            if let lock = line.firstMatch(of: /(\w+)\.withLock/), places.contains(String(lock.1)) {
                add("\(function) \(lock.1).withLock", .sequentiallyConsistent)
            }
            for match in line.matches(
                of: /(\w+)\.(load|store|exchange|compareExchange|weakCompareExchange)\(/
            ) {
                pending = places.contains(String(match.1)) ? "\(function) \(match.1).\(match.2)" : ""
            }
            guard !pending.isEmpty, let order = line.firstMatch(of: /ordering: \.(\w+)/),
                let order = MemoryOrder(rawValue: String(order.1))
            else { continue }
            add(pending, order)
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
