/// The modules of `--listen` that a file names: what a request probes with, in the options of the command.
enum Modules {
    /// Reads lines of the form `NAME: OPTIONS`. Empty lines and comments are left out.
    static func read(_ path: String, for options: Options) throws(UsageError) -> [String: ProbeSettings] {
        let text = String(decoding: try UserFiles.contents(of: path, upTo: 1 << 20), as: UTF8.self)
        var modules: [String: ProbeSettings] = [:]
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init).prefix {
                !$0.hasPrefix("#")
            }
            guard let first = words.first else { continue }
            let place = "\(PlainText.harmless(path, unicode: true)):\(index + 1): "
            let name = String(first.dropLast())
            guard first.hasSuffix(":"), !name.isEmpty else {
                throw UsageError(place + "a module is NAME: OPTIONS, such as mail: --starttls smtp")
            }
            guard modules[name] == nil else {
                throw UsageError(place + "there are two modules \(quoted(name))")
            }
            do throws(UsageError) {
                modules[name] = try options.with(module: Array(words.dropFirst())).settings
            } catch {
                throw UsageError(place + error.what, hint: error.hint)
            }
        }
        return modules
    }
}
