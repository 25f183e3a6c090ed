internal import DirectIO

/// The file is that of curl's `--hsts`: a name, with a dot before it if all below are included, and the end in UTC.
///
///     .example.com "20270314 15:09:26"
extension HSTSStore {
    /// The store as a file.
    public var text: [UInt8] {
        var text = "# Names that are reached over https only. The format is that of curl's --hsts.\n"
        for entry in entries {
            text += "\(entry.includesSubdomains ? "." : "")\(entry.name) \"\(entry.expiry.stamp)\"\n"
        }
        return Array(text.utf8)
    }

    /// Adds what a file holds. Lines that cannot be read are passed over, and told of.
    @discardableResult
    public func add(text: [UInt8]) -> [LineFault] {
        add(text: text, at: .now)
    }

    /// Writes all entries to a file that only its owner may read, in the place of what was there; never half.
    @concurrent
    public func save(to path: String) async throws {
        try await StateText.save(text, to: path)
    }

    /// Adds what a file holds; without a file that is nothing. Lines that cannot be read are passed over, and told of.
    @concurrent
    @discardableResult
    public func load(from path: String) async throws -> [LineFault] {
        add(text: try await StateText.load(path), at: .now)
    }

    func add(text: [UInt8], at now: UnixTime) -> [LineFault] {
        StateText.readLines(of: text) { line throws(LineError) in
            guard line.first != UInt8(ascii: "#") else { return }
            let entry = try Self.entry(line)
            // Where the store knows of a later end, or an earlier line had one, that stays.
            if entry.expiry > max(now, expiry(of: entry.name)) { add(entry, at: now) }
        }
    }

    private static func entry(_ line: ArraySlice<UInt8>) throws(LineError) -> Entry {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard fields.count == 2 else { throw LineError("not a name and a date") }
        let isBelow = fields[0].first == UInt8(ascii: ".")
        let text = Array(isBelow ? fields[0].dropFirst() : fields[0])
        guard let name = try? text.withSpan(DomainName.init(utf8:)) else {
            throw LineError("not a host name")
        }
        guard let expiry = UnixTime(stamp: fields[1].trimmed) else { throw LineError("not a date in quotes") }
        return Entry(name, until: expiry, includesSubdomains: isBelow)
    }
}

extension UnixTime {
    /// `20270314 15:09:26`, or `unlimited` where the year would not fit.
    fileprivate var stamp: String {
        let (days, second) = seconds.floorDivided(by: 86_400)
        let day = CivilDay(daysSince1970: min(days, 1 << 30))
        guard day.year <= 9999 else { return "unlimited" }
        let date = [day.year, day.month, day.day].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined()
        let clock = [second / 3600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return date + " " + clock.joined(separator: ":")
    }

    fileprivate init?(stamp text: ArraySlice<UInt8>) {
        guard text.count >= 2, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else {
            return nil
        }
        let stamp = text.dropFirst().dropLast()
        if stamp.elementsEqual("unlimited".utf8) {
            self.init(seconds: .max)
            return
        }
        let shape = "00000000 00:00:00".utf8
        guard stamp.count == shape.count,
            zip(stamp, shape).allSatisfy({ $1 == UInt8(ascii: "0") ? $0.isDigit : $0 == $1 })
        else { return nil }
        let digits = stamp.filter(\.isDigit).map { Int($0 - UInt8(ascii: "0")) }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
        let day = CivilDay(year: number(0..<4), month: number(4..<6), day: number(6..<8))
        let time = day.time(hour: number(8..<10), minute: number(10..<12), second: number(12..<14))
        guard let time else { return nil }
        self = time
    }
}
