internal import CommandKit
internal import DirectProxy

/// Entries of maps, as curl's options and the files of `--map` have them.
enum MapFile {
    /// Returns an option's value as an entry of `--resolve`.
    static func entry(_ option: CommandOption, value: String) throws(ArgumentReader.Fault) -> String {
        guard option == .connectTo else { return value }
        // HOST:PORT and ADDR:PORT: an endpoint with a port of its own.
        let (hostEnd, text) = (end(ofHost: value[...]), value[...])
        guard let hostEnd, let portEnd = text[text.index(after: hostEnd)...].firstIndex(of: ":") else {
            throw .init(what: "--connect-to \(value): it takes HOST:PORT:ADDR:PORT")
        }
        let target = String(text[text.index(after: portEnd)...])
        guard let endpoint = try? Endpoint(target), endpoint.port != nil else {
            throw .init(
                what:
                    "--connect-to \(value): \(target) is no address with a port; names are not resolved here"
            )
        }
        return value
    }

    /// Returns the entries of a file, a line each: those of `--resolve`, or an address and its names.
    static func entries(_ text: String, of path: String) throws(ArgumentReader.Fault) -> [String] {
        var entries: [String] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" || $0 == "\r" }
            guard let first = words.first else { continue }
            let lines = words.count == 1 ? [String(first)] : words.dropFirst().map { "\($0):*:\(first)" }
            do throws(StaticMapError) {
                _ = try StaticMap(curl: lines)
            } catch {
                var fault = error
                if case .line(_, let inner) = error { fault = inner }
                throw .init(what: "\(path), line \(number + 1): \(fault)")
            }
            entries += lines
        }
        return entries
    }

    private static func end(ofHost text: Substring) -> Substring.Index? {
        guard text.hasPrefix("[") else { return text.firstIndex(of: ":") }
        return text.firstIndex(of: "]").flatMap { text[$0...].firstIndex(of: ":") }
    }
}
