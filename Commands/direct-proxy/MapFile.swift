internal import DirectProxy

/// Entries of maps, as curl's options and the files of `--map` have them.
enum MapFile {
    /// An entry of `--connect-to`. A `*` for the host or the port is any.
    private struct Redirection {
        let host: String
        let port: Substring
        let target: Endpoint

        func covers(_ other: Redirection) -> Bool {
            (host == "*" || host == other.host) && (port == "*" || port == other.port)
        }

        /// The same for those that the other one is for as well; `nil` if there are none.
        func narrowed(by other: Redirection) -> Redirection? {
            let narrow = Redirection(
                host: host == "*" ? other.host : host,
                port: port == "*" ? other.port : port,
                target: target
            )
            return other.covers(narrow) ? narrow : nil
        }
    }

    /// Returns the values of `--connect-to`, `HOST:PORT:ADDR:PORT`, as entries of `--resolve`.
    ///
    /// In curl the first counts that is for a host and a port, in a map the one that says most of them: where
    /// two are, an entry of its own has the first one's address.
    static func entries(connectTo values: [String]) throws(Mistake) -> [String] {
        var all: [Redirection] = []
        for value in values {
            let new = try redirection(value)
            guard !all.contains(where: { $0.covers(new) }) else { continue }
            for each in all.compactMap({ $0.narrowed(by: new) }) + [new]
            where !all.contains(where: { $0.covers(each) && each.covers($0) }) {
                all.append(each)
            }
        }
        return all.map { "\($0.host):\($0.port):\($0.target)" }
    }

    /// Reads a value. An empty host or port is any, and without the last port it stays the one that is asked
    /// for.
    private static func redirection(_ value: String) throws(Mistake) -> Redirection {
        guard let hostEnd = end(ofHost: value[...]),
            let portEnd = value[value.index(after: hostEnd)...].firstIndex(of: ":")
        else {
            throw Mistake(line: "--connect-to \(value): it takes HOST:PORT:ADDR:PORT")
        }
        let port = value[value.index(after: hostEnd)..<portEnd]
        let target = value[value.index(after: portEnd)...]
        guard let targetEnd = end(ofHost: target),
            let endpoint = try? Endpoint(String(target.hasSuffix(":") ? target.dropLast() : target)),
            endpoint.port != nil || target[targetEnd...] == ":"
        else {
            throw Mistake(
                line:
                    "--connect-to \(value): \"\(target)\" is no ADDR:PORT; names are not resolved here"
            )
        }
        let host = value[..<hostEnd]
        return Redirection(
            host: host.isEmpty ? "*" : host.lowercased(),
            port: port.isEmpty ? "*" : port,
            target: endpoint
        )
    }

    /// Returns the entries of a file, a line each: those of `--resolve`, or an address and its names.
    ///
    /// Lines as in hosts(5) that have the same name add up, as they do there.
    ///
    /// It is read byte by byte: to Swift the end of a line of Windows is one character, which no other is.
    static func entries(_ file: [UInt8], of path: String) throws(Mistake) -> [String] {
        var entries: [String] = []
        var places: [String: Int] = [:]
        // Some editors write a byte order mark.
        let file = file.starts(with: [0xEF, 0xBB, 0xBF]) ? file.dropFirst(3) : file[...]
        for (number, line) in file.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            guard !line.dropLast().contains(0x0D) else {
                throw Mistake(line: "\(path), line \(number + 1): a carriage return within the line")
            }
            let words = line.prefix { $0 != UInt8(ascii: "#") }.split { $0 <= 0x20 }
                .map { String(decoding: $0, as: UTF8.self) }
            guard let first = words.first else { continue }
            let lines = words.count == 1 ? [first] : words.dropFirst().map { "\($0):*:\(first)" }
            do throws(StaticMapError) {
                _ = try StaticMap(curl: lines)
            } catch {
                var fault = error
                if case .line(_, let inner) = error { fault = inner }
                throw Mistake(line: "\(path), line \(number + 1): \(fault)")
            }
            guard words.count > 1 else {
                entries += lines
                continue
            }
            for (name, line) in zip(words.dropFirst(), lines) {
                if let place = places[name.lowercased()] {
                    entries[place] += ",\(first)"
                } else {
                    places[name.lowercased()] = entries.count
                    entries.append(line)
                }
            }
        }
        return entries
    }

    private static func end(ofHost text: Substring) -> Substring.Index? {
        guard text.hasPrefix("[") else { return text.firstIndex(of: ":") }
        return text.firstIndex(of: "]").flatMap { text[$0...].firstIndex(of: ":") }
    }
}
