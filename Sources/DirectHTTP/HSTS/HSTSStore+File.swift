internal import DirectCore
internal import DirectIO

/// The format of the file is that of curl's `--hsts`. A line holds a name, with a leading dot if the names
/// below it are included, and the expiry in UTC.
///
///     .example.com "20270314 15:09:26"
extension HSTSStore {
    /// The entries as the text of a file.
    public var text: [UInt8] {
        var text = "# Names that are reached over https only. The format is that of curl's --hsts.\n"
        for entry in entries {
            text += "\(entry.includesSubdomains ? "." : "")\(entry.name) \"\(entry.expiry.stamp)\"\n"
        }
        return Array(text.utf8)
    }

    /// Adds the entries of a file's text. Lines that cannot be read are skipped.
    ///
    /// Entries of the store stay: of two for a name the later expiry counts, and likewise for the names
    /// below it.
    ///
    /// - Returns: The lines that were skipped, and the reasons.
    @discardableResult
    public func add(content: [UInt8]) -> [LineFault] {
        add(content: content, at: .now)
    }

    /// Writes all entries to a file that only its owner may read. An existing file is replaced atomically. If
    /// several tasks save the store, the file has the entries of all of them in the end.
    ///
    /// - Throws: An error if the file cannot be written, `CancellationError` if the task was cancelled.
    @concurrent
    public func save(to path: String) async throws {
        try await saves.save(to: path) { [self] in text }
    }

    /// Adds the entries of a file. A file that does not exist counts as empty. Lines that cannot be read are
    /// skipped.
    ///
    /// Entries of the store stay: of two for a name the later expiry counts, and likewise for the names
    /// below it.
    ///
    /// - Returns: The lines that were skipped, and the reasons.
    /// - Throws: An error if the file exists and cannot be read.
    @concurrent
    @discardableResult
    public func load(from path: String) async throws -> [LineFault] {
        try await StateText.load(path) { [self] in add(content: $0, at: .now) }
    }

    func add(content text: [UInt8], at now: UnixTime) -> [LineFault] {
        StateText.readLines(of: text) { line throws(LineError) in
            guard line.first != UInt8(ascii: "#") else { return }
            join(try Self.entry(line), at: now)
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
    /// The moment as `20270314 15:09:26`, or `unlimited` if the year has more than four digits.
    fileprivate var stamp: String {
        let (days, second) = seconds.floorDivided(by: 86_400)
        let day = CivilDay(daysSince1970: min(days, 1 << 30))
        guard day.year <= 9999 else { return "unlimited" }
        let date = [day.year, day.month, day.day].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined()
        let clock = [second / 3600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return date + " " + clock.joined(separator: ":")
    }

    /// Parses a stamp in double quotes; `nil` if it is malformed.
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
