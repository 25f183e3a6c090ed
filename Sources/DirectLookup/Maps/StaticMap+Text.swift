internal import DirectCore
internal import DirectIO

extension StaticMap {
    /// Parses entries in the format of curl's `--resolve`, one per element: `host:port:address[,address]`.
    ///
    /// The host is a name, an IPv4 address, an IPv6 address in brackets, `*.name` or `*`. The port may be
    /// `*`, which means any port. An address may be followed by a port of its own, and an IPv6 address may be
    /// in brackets. A later entry replaces an earlier one for the same host and port, and `-host:port`
    /// removes it.
    ///
    /// - Throws: ``StaticMapError/line(_:_:)`` with the number of the element that is wrong.
    public init(curl entries: some Sequence<String>) throws(StaticMapError) {
        self.init()
        var number = 0
        for entry in entries {
            number += 1
            do throws(StaticMapError) {
                try withUTF8Result(of: entry) { utf8 throws(StaticMapError) in try add(entry: utf8) }
            } catch {
                throw .line(number, error)
            }
        }
    }

    /// Parses the text of a hosts file, hosts(5): on each line an address and its names, with `#` before a
    /// comment.
    ///
    /// The entries apply to any port. If several lines have the same name, it gets all their addresses, in
    /// the order of the lines. A line or a word of it that is no mapping is skipped, as the system does:
    /// lists that people have begin with a mark of the byte order, or have lines such as `0.0.0.0 0.0.0.0`.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - onSkipped: Called with ``StaticMapError/line(_:_:)`` for each line of which something is skipped.
    public init(hosts text: String, onSkipped: (StaticMapError) -> Void = { _ in }) {
        self.init()
        withUTF8Result(of: text) { utf8 in
            var number = 0
            var start = utf8.count >= 3 && utf8[0] == 0xEF && utf8[1] == 0xBB && utf8[2] == 0xBF ? 3 : 0
            while start < utf8.count {
                number += 1
                let end = utf8.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? utf8.count
                if let fault = add(hostsLine: utf8.extracting(start..<end)) {
                    onSkipped(.line(number, fault))
                }
                start = end + 1
            }
        }
    }

    /// Reads a hosts file. Blocks until it is read.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - onSkipped: Called with ``StaticMapError/line(_:_:)`` for each line of which something is skipped.
    /// - Throws: ``StaticMapError/unreadable(_:_:)`` if the file cannot be read.
    public init(
        hostsFile path: String = "/etc/hosts",
        onSkipped: (StaticMapError) -> Void = { _ in }
    ) throws(StaticMapError) {
        var bytes: [UInt8] = []
        do throws(SystemError) {
            let file = try FileReader(path)
            while true {
                let piece = try file.next()
                if piece.isEmpty { break }
                bytes += piece
            }
        } catch {
            throw .unreadable(path, error)
        }
        self.init(hosts: String(decoding: bytes, as: UTF8.self), onSkipped: onSkipped)
    }

    private mutating func add(entry: Span<UInt8>) throws(StaticMapError) {
        guard !entry.isEmpty else { throw .notAnEntry }
        guard entry[0] != UInt8(ascii: "+") else { throw .timedEntry }
        let isRemoval = entry[0] == UInt8(ascii: "-")
        let hostStart = isRemoval ? 1 : 0
        let searchStart =
            hostStart < entry.count && entry[hostStart] == UInt8(ascii: "[")
            ? entry.firstIndex(of: UInt8(ascii: "]"), from: hostStart) ?? entry.count : hostStart
        guard let hostEnd = entry.firstIndex(of: UInt8(ascii: ":"), from: searchStart) else {
            throw .notAnEntry
        }
        let pattern: HostPattern
        do throws(HTTPHostError) {
            pattern = try HostPattern(utf8: entry.extracting(hostStart..<hostEnd))
        } catch {
            throw .host(error)
        }
        let portEnd = entry.firstIndex(of: UInt8(ascii: ":"), from: hostEnd + 1)
        let port = try Self.port(entry.extracting((hostEnd + 1)..<(portEnd ?? entry.count)))
        if isRemoval {
            guard portEnd == nil else { throw .notAnEntry }
            remove(pattern, port: port)
        } else {
            guard let portEnd else { throw .notAnEntry }
            try set(try Self.endpoints(entry.extracting((portEnd + 1)...)), for: pattern, port: port)
        }
    }

    private static func port(_ text: Span<UInt8>) throws(StaticMapError) -> UInt16? {
        if text.count == 1, text[0] == UInt8(ascii: "*") { return nil }
        var port: UInt32 = 0
        for index in text.indices {
            guard text[index].isDigit, index < 5 else { throw .invalidPort }
            port = port * 10 + UInt32(text[index] - 0x30)
        }
        guard let port = UInt16(exactly: port), port > 0 else { throw .invalidPort }
        return port
    }

    private static func endpoints(_ list: Span<UInt8>) throws(StaticMapError) -> [Endpoint] {
        guard !list.isEmpty else { throw .noAddresses }
        var endpoints: [Endpoint] = []
        var start = 0
        while start <= list.count {
            let end = list.firstIndex(of: UInt8(ascii: ","), from: start) ?? list.count
            do throws(AddressError) {
                endpoints.append(try Endpoint(utf8: list.extracting(start..<end)))
            } catch {
                throw .address(error)
            }
            start = end + 1
        }
        return endpoints
    }

    /// Adds the mappings of a line, and returns the first fault of it.
    private mutating func add(hostsLine line: Span<UInt8>) -> StaticMapError? {
        var address: IPAddress?
        var hasName = false
        var fault: StaticMapError?
        var position = 0
        let end = line.firstIndex(of: UInt8(ascii: "#"), from: 0) ?? line.count
        while position < end {
            guard line[position] > 0x20 else {
                position += 1
                continue
            }
            let start = position
            while position < end, line[position] > 0x20 { position += 1 }
            let word = line.extracting(start..<position)
            if let address {
                do throws(StaticMapError) {
                    try add(address, forName: word)
                } catch {
                    fault = fault ?? error
                }
                hasName = true
            } else {
                address = IPAddress(utf8: word)
                guard address != nil else { return .address(.notAnAddress(String(copying: word))) }
            }
        }
        return fault ?? (hasName || address == nil ? nil : .noNames)
    }

    private mutating func add(_ address: IPAddress, forName word: Span<UInt8>) throws(StaticMapError) {
        // The root's dot says no more than that the name is whole.
        let hasDot = word.count > 1 && word[word.count - 1] == UInt8(ascii: ".")
        do throws(HTTPHostError) {
            add(
                Endpoint(address),
                for: try DomainName(utf8: word.extracting(..<(word.count - (hasDot ? 1 : 0))))
            )
        } catch {
            throw .host(error)
        }
    }
}

extension Span<UInt8> {
    fileprivate func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        var index = start
        while index < count {
            if self[index] == byte { return index }
            index += 1
        }
        return nil
    }
}
