import DirectHTTP1

extension FuzzTarget {
    /// The response reader, with every method, leniency and limit.
    ///
    /// - The result does not depend on how the bytes are cut.
    /// - Each step uses no more than it is offered, and either uses bytes, asks for more, or ends the
    ///   response.
    /// - Names are tokens, and values have no control character but the tab.
    /// - Heads and trailers stay within the limits; content is never longer than the input or its
    ///   Content-Length.
    /// - After an error every call throws the same error, and the connection is not reusable.
    /// - Only a response that has ended makes the connection reusable.
    /// - On a reusable connection the reader reads the next response like a new reader.
    static let response = FuzzTarget(name: "response") { choices in
        let exchange = ResponseInput(&choices)
        let cuts = choices.cuts(of: 2048)
        let input = choices.rest()
        let whole = exchange.read(input, cutAt: [])
        requireEqual(whole, exchange.read(input, cutAt: cuts), "cuts do not matter")
        if input.count <= 1024 {
            requireEqual(whole, exchange.read(input, cutAt: Array(input.indices)), "byte by byte is the same")
        }
    }
}

/// How a response is read: the request's method, the limits and the leniency.
private struct ResponseInput {
    private let method: HTTPMethod
    private let upgrade: Bool
    private let hasCleanEnd: Bool?
    private var limits = HTTP1Limits()
    private var leniency = HTTP1Leniency()

    init(_ choices: inout Choices) {
        method = choices.pick([.get, .head, .connect, .post])
        upgrade = choices.flag()
        hasCleanEnd = choices.pick([nil, true, false])
        let tolerated = choices.number(below: 16)
        leniency.acceptsBareLineFeeds = tolerated & 1 != 0
        leniency.acceptsDoubtfulFraming = tolerated & 2 != 0
        leniency.acceptsBareLineFeedsInChunks = tolerated & 4 != 0
        leniency.acceptsWhitespaceAfterChunkSizes = tolerated & 8 != 0
        guard choices.flag() else { return }
        limits.headBytes = choices.number(below: 256)
        limits.lineBytes = choices.number(below: 128)
        limits.fieldCount = choices.number(below: 8)
        limits.interimCount = choices.number(below: 4)
        limits.chunkExtensionBytes = choices.number(below: 64)
        limits.trailerBytes = choices.number(below: 128)
        limits.trailerCount = choices.number(below: 4)
    }

    /// Reads one response, and the one after it if the connection is reusable.
    func read(_ input: [UInt8], cutAt cuts: [Int]) -> ResponseReading {
        var reader = ResponseReader(limits: limits, leniency: leniency)
        var first = read(with: &reader, input, cutAt: cuts)
        check(first, of: input)
        if first.reuse == .reusable, first.leftover > 0 {
            let rest = Array(input.suffix(first.leftover))
            let second = read(with: &reader, rest, cutAt: [])
            var fresh = ResponseReader(limits: limits, leniency: leniency)
            requireEqual(second, read(with: &fresh, rest, cutAt: []), "a reused reader is like a new one")
            first.next = second.outcome
        }
        return first
    }

    private func read(with reader: inout ResponseReader, _ input: [UInt8], cutAt cuts: [Int])
        -> ResponseReading
    {
        var reading = ResponseReading()
        reader.begin(method, upgrade: upgrade)
        do throws(HTTP1Error) {
            for end in cuts.filter({ $0 < input.count }) + [input.count] {
                while reading.isOpen, try reading.step(of: &reader, input, to: end) {}
            }
            if reading.isOpen, let hasCleanEnd, case .end = try reader.endOfInput(clean: hasCleanEnd) {
                reading.outcome = .end
            }
        } catch {
            reading.outcome = .failed(error)
            requireSticks(error, in: &reader, input: input)
        }
        reading.finish(&reader, input: input)
        return reading
    }

    /// After an error the reader must not begin to like the bytes again.
    private func requireSticks(_ fault: HTTP1Error, in reader: inout ResponseReader, input: [UInt8]) {
        for offered in [input, []] {
            do throws(HTTP1Error) {
                let offered = offered[...]
                _ = try reader.next(offered.span)
                require(false, "a failed reader fails again")
            } catch {
                requireEqual(error, fault, "the same error again")
            }
        }
        requireEqual(reader.reuse, .close(.failed), "nothing is reusable after an error")
    }

    private func check(_ reading: ResponseReading, of input: [UInt8]) {
        require(reading.content.count <= input.count, "content is no longer than the input")
        if case .length(let length) = reading.framing {
            require(reading.content.count <= length, "content is no longer than announced")
            if reading.outcome == .end { requireEqual(UInt64(reading.content.count), length, "all content") }
        }
        if reading.reuse == .reusable { requireEqual(reading.outcome, .end, "only an ended response") }
        for head in reading.heads {
            require(head.headers.count <= limits.fieldCount, "the limit of fields")
            requireClean(head.headers, within: max(64, limits.headBytes))
        }
        if let trailers = reading.trailers {
            require(trailers.count <= limits.trailerCount, "the limit of trailers")
            requireClean(trailers, within: max(2, limits.trailerBytes))
        }
    }
}

/// All that a reader reports for a response.
private struct ResponseReading: Equatable {
    enum Outcome: Equatable {
        case open, end, tunnel
        case failed(HTTP1Error)
    }

    var outcome = Outcome.open
    private(set) var heads: [ResponseHead] = []
    private(set) var framing = ResponseFraming.none
    private(set) var content: [UInt8] = []
    private(set) var trailers: HTTPHeaders?
    private(set) var used = 0
    private(set) var reuse = ReuseVerdict.reusable
    private(set) var keepAlive: KeepAliveHint?
    private(set) var leftover = 0
    /// The outcome of the response after this one.
    var next: Outcome?

    var isOpen: Bool { outcome == .open }

    /// Takes one step. Returns whether there may be another one before `end`.
    mutating func step(
        of reader: inout ResponseReader,
        _ input: [UInt8],
        to end: Int
    ) throws(HTTP1Error) -> Bool {
        let offered = input[used..<end]
        let step = try reader.next(offered.span)
        require(step.used >= 0 && step.used <= offered.count, "a step uses what it is offered")
        let start = used
        used += step.used
        switch step.event {
        case .needsMore: return false
        case .end:
            outcome = .end
            return false
        case .interim(let head): heads.append(head)
        case .head(let head):
            heads.append(head)
            if reader.framing == .tunnel { outcome = .tunnel }
        case .content(let range):
            require(range.upperBound <= step.used && !range.isEmpty, "content is in the used bytes")
            content += input[(start + range.lowerBound)..<(start + range.upperBound)]
        case .trailers(let fields):
            trailers = fields
        }
        require(step.used > 0, "an event uses bytes")
        return isOpen
    }

    /// How much of a wrong response has been used does depend on the cuts.
    mutating func finish(_ reader: inout ResponseReader, input: [UInt8]) {
        leftover = input.count - used
        if case .failed = outcome { (used, leftover) = (0, 0) }
        framing = reader.framing
        reuse = reader.reuse
        // Without a final head, it is that of the response before.
        keepAlive = reuse == .reusable ? reader.keepAlive : nil
    }
}

/// Names have to be tokens, values free of what could end a line, and all together within the limit.
private func requireClean(_ headers: HTTPHeaders, within limit: Int) {
    var bytes = 0
    for index in headers.indices {
        let (name, value) = (Array(headers[index].name.utf8), headers.valueBytes(at: index))
        require(!name.isEmpty && name.allSatisfy(isTokenByte), "a name is a token")
        require(value.allSatisfy(isTextByte), "a value is text")
        bytes += name.count + value.count
    }
    require(bytes <= limit, "the limit of bytes")
}

/// Whether the byte may be in a token (RFC 9110, section 5.6.2). Written again here: a mistake in the table
/// of the package must not hide in its own check.
func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}

/// Whether the byte may be in a field value or a reason phrase.
func isTextByte(_ byte: UInt8) -> Bool {
    byte == 0x09 || byte >= 0x20 && byte != 0x7F
}
