@testable import DirectHTTP1

extension FuzzTarget {
    /// The head scanner, which finds the lines of a head or of trailers.
    ///
    /// - Without leniency it accepts exactly the heads that a simple parser of the grammar of RFC 9112
    ///   accepts, and finds the same names and values. This parser has no fast path, and reads the whole head
    ///   at once.
    /// - The result does not depend on how many bytes are offered at a time.
    /// - All places lie in the section, in order.
    static let head = FuzzTarget(name: "head") { choices in
        let isTrailers = choices.flag()
        var leniency = HTTP1Leniency()
        let tolerated = choices.number(below: 8)
        leniency.acceptsBareLineFeeds = tolerated > 5
        let step = 1 + choices.number(below: 32)
        let input = choices.rest()
        let whole = ScannedHead(input, isTrailers: isTrailers, leniency, step: max(1, input.count))
        requireEqual(
            whole,
            ScannedHead(input, isTrailers: isTrailers, leniency, step: step),
            "cuts do not matter"
        )
        whole.requireOrdered()
        guard leniency == HTTP1Leniency() else { return }
        requireEqual(whole.simple, SimpleHead(input, isTrailers: isTrailers), "the grammar decides")
    }
}

/// What the scanner finds.
private struct ScannedHead: Equatable {
    private var length: Int?
    private var fault: HTTP1Error?
    private var places: [[UInt32]] = []
    private var status: UInt16 = 0
    private var reason: Range<UInt32> = 0..<0
    private var input: [UInt8]

    init(_ input: [UInt8], isTrailers: Bool, _ leniency: HTTP1Leniency, step: Int) {
        self.input = input
        var scanner = HeadScanner(leniency: leniency)
        if isTrailers { scanner.expectTrailers() } else { scanner.expectHead() }
        do throws(HTTP1Error) {
            for end in Array(stride(from: 1, to: input.count, by: step)) + [input.count] where length == nil {
                length = try scan(&scanner, end: end)
            }
        } catch {
            fault = error
            return
        }
        guard length != nil else { return }
        places = (0..<scanner.count).map { index in
            let place = scanner.places[index]
            return [place.nameStart, place.nameEnd, place.valueStart, place.valueEnd]
        }
        if !isTrailers { (status, reason) = (scanner.statusCode, scanner.reason) }
    }

    /// Offers the first `end` bytes, in memory of exactly that size.
    private func scan(_ scanner: inout HeadScanner, end: Int) throws(HTTP1Error) -> Int? {
        guard end > 0 else { return nil }
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: end)
        defer { memory.deallocate() }
        memory.initialize(from: input, count: end)
        let limits = HeadScanner.Limits(bytes: 1 << 16, lineBytes: 1 << 15, fields: 1 << 12)
        return try scanner.scan(memory, available: end, limits: limits)
    }

    func requireOrdered() {
        guard let length else { return }
        require(length <= input.count, "the section lies in the input")
        var last: UInt32 = 0
        for place in places.joined() {
            require(place >= last && place < length, "places are in order")
            last = place
        }
    }

    /// The same in the form of the simple parser.
    var simple: SimpleHead? {
        guard let length else { return nil }
        return SimpleHead(
            length: length,
            status: status,
            fields: places.map { place in
                [Array(input[Int(place[0])..<Int(place[1])]), Array(input[Int(place[2])..<Int(place[3])])]
            }
        )
    }
}

/// A head, read in the simplest way: line by line, each by the grammar (RFC 9112, sections 4 and 5).
private struct SimpleHead: Equatable {
    var length: Int
    var status: UInt16 = 0
    var fields: [[[UInt8]]] = []

    init(length: Int, status: UInt16, fields: [[[UInt8]]]) {
        (self.length, self.status, self.fields) = (length, status, fields)
    }

    /// `nil` if the head is wrong or incomplete.
    init?(_ input: [UInt8], isTrailers: Bool) {
        length = 0
        if !isTrailers {
            guard let line = nextLine(input), let status = Self.status(line) else { return nil }
            self.status = status
        }
        while let line = nextLine(input) {
            if line.isEmpty { return }
            if line[0] == 0x20 || line[0] == 0x09 {
                guard fold(line) else { return nil }
                continue
            }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let (name, value) = (Array(line[..<colon]), Array(line[(colon + 1)...]))
            guard !name.isEmpty, name.allSatisfy(isTokenByte) else { return nil }
            fields.append([name, Self.trimmed(value)])
        }
        return nil
    }

    /// Makes the line part of the last value (RFC 9112, section 5.2). Returns `false` if it must not be:
    /// there is no field before it, or one that frames the content.
    private mutating func fold(_ line: [UInt8]) -> Bool {
        guard let last = fields.last else { return false }
        let framing = ["content-length", "transfer-encoding"]
        guard !framing.contains(String(decoding: last[0], as: UTF8.self).lowercased()) else { return false }
        fields[fields.count - 1][1] = Self.trimmed(last[1] + [0x0D, 0x0A] + line)
        return true
    }

    /// The bytes up to the next CR LF; `nil` if there is none, or if a byte before it may not be in a line.
    private mutating func nextLine(_ input: [UInt8]) -> [UInt8]? {
        var line: [UInt8] = []
        for index in input.indices.dropFirst(length) {
            guard isTextByte(input[index]) else {
                guard input[index] == 0x0D, index + 1 < input.count, input[index + 1] == 0x0A else {
                    return nil
                }
                length = index + 2
                return line
            }
            line.append(input[index])
        }
        return nil
    }

    private static func status(_ line: [UInt8]) -> UInt16? {
        guard line.count >= 12, line.starts(with: "HTTP/1.".utf8), isDigit(line[7]), line[8] == 0x20,
            line[9...11].allSatisfy(isDigit), line[9] != 0x30, line.count == 12 || line[12] == 0x20
        else { return nil }
        return line[9...11].reduce(0) { $0 * 10 + UInt16($1 - 0x30) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    private static func trimmed(_ value: [UInt8]) -> [UInt8] {
        // The line ends of folds count as blanks.
        let isBlank = { (byte: UInt8) in [0x20, 0x09, 0x0D, 0x0A].contains(byte) }
        return Array(value.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
