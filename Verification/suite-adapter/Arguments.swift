import CommandKit
import DirectTLS

/// The words of a command line, and the values of the options among them.
struct Arguments {
    private(set) var words: [String] = []
    private var values: [String: String] = [:]

    /// Every option is followed by its value, but for the `flags`.
    init(_ arguments: ArraySlice<String>, flags: Set<String> = []) throws {
        var rest = ArgumentReader(arguments)
        while let word = rest.next() {
            if flags.contains(word) {
                values[word] = ""
            } else if word.hasPrefix("--") {
                values[word] = try rest.value(of: word)
            } else {
                words.append(word)
            }
        }
    }

    /// An option's value, which is then done with.
    mutating func take(_ option: String) -> String? {
        values.removeValue(forKey: option)
    }

    /// The certificate rules of `--rules`.
    mutating func takeRules() throws -> CertificateRules {
        switch take("--rules") {
        case nil, "widely-kept": .standard
        case "public-web": .webPKI
        case let other?:
            throw ArgumentReader.Fault(what: "--rules is widely-kept or public-web, not \(other)")
        }
    }

    func finish() throws {
        if let option = values.keys.min() { throw ArgumentReader.Fault(what: "unknown option \(option)") }
    }
}
