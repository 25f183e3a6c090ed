import DirectCore

@testable import DirectHTTP

extension FuzzTarget {
    /// Lines of a body that comes in pieces.
    ///
    /// - The lines, and whether one is too long, do not depend on the cuts.
    /// - They are those that a simple rule finds in the whole.
    static let lines = FuzzTarget(name: "lines") { choices in
        let limit = choices.pick([1 << 20, 0, 1, 7, 40])
        let cuts = choices.cuts(of: 4096)
        let input = choices.rest()
        let whole = SplitLines(input, cutAt: [], limit: limit)
        requireEqual(whole, SplitLines(input, cutAt: cuts, limit: limit), "cuts do not matter")
        requireEqual(
            whole,
            SplitLines(input, cutAt: Array(input.indices), limit: limit),
            "byte by byte is the same"
        )
        require(whole.lines.allSatisfy { $0.count <= limit }, "no line is longer than the limit")
        if limit > input.count { requireEqual(whole.lines, simpleLines(input), "the lines of the whole") }
    }

    /// Server-sent events.
    ///
    /// - No data is longer than the limit, no id can break a field, no wait is longer than a day.
    /// - An event that is written in its plainest form is read as the same event.
    static let events = FuzzTarget(name: "events") { choices in
        let limit = choices.pick([1 << 20, 0, 1, 30])
        var parser = EventParser(limit: limit, lastEventID: "before")
        var events: [ServerSentEvent] = []
        for line in simpleLines(choices.rest()) {
            guard let event = try? parser.take(line) else { continue }
            events.append(event)
            require(event.data.utf8.count <= limit || event.data.contains("\u{FFFD}"), "bounded data")
            require(!event.type.isEmpty, "every event has a type")
            require(event.id.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }, "an id for a field")
            require(event.retry ?? .zero <= .seconds(86_400), "at most a day")
        }
        for event in events { requireEqual(reread(event), event, "the plainest form") }
    }

    /// Texts in each charset.
    ///
    /// - Any bytes can be decoded. ASCII is itself in every charset but UTF-16.
    /// - A line decodes to the same text whatever follows it.
    /// - `Content-Type` fields name a charset, or an error that shows no control character. It is the one of
    ///   the first parameter with that name and a value, in the last field, as its parameters were written.
    static let charsets = FuzzTarget(name: "charsets") { choices in
        let charset = choices.pick([Charset.gb18030, .utf8, .windows1252, .utf16LE, .utf16BE])
        let forms = (0..<choices.number(below: 4)).map { _ in choices.number(below: 8) }
        let texts = choices.texts()
        let (first, second) = (texts[0], texts.count > 1 ? texts[1] : [])
        checkContentType(Array(texts.dropFirst(2)), forms)
        let isWide = charset == .utf16LE || charset == .utf16BE
        let end: [UInt8] = charset == .utf16LE ? [0x0A, 0] : charset == .utf16BE ? [0, 0x0A] : [0x0A]
        let line = charset.decode(first + end)
        if !isWide || first.count.isMultiple(of: 2) {
            // Scalars: a character may join the line feed with a carriage return, or with a mark behind it.
            let joined = charset.decode(first + end + second).unicodeScalars
            let apart = Array(line.unicodeScalars) + Array(charset.decode(second).unicodeScalars)
            require(joined.elementsEqual(apart), "line by line")
        }
        if !isWide {
            let plain = first.filter { $0 < 0x80 }
            require(charset.decode(plain).utf8.elementsEqual(plain), "ASCII is itself")
        }
        var headers = HTTPHeaders()
        headers.add("Content-Type", bytes: first)
        do throws(HTTPError) {
            _ = try headers.charset()
        } catch {
            require(error.description.utf8.allSatisfy { $0 >= 0x20 }, "no control character in an error")
        }
    }
}

/// Writes a media type with parameters, and compares the charset with that of the parameters.
private func checkContentType(_ texts: [[UInt8]], _ forms: [Int]) {
    var type = Array("text/plain".utf8)
    var charsets: [String] = []
    for (index, form) in forms.enumerated() where 2 * index + 1 < texts.count {
        let name = form & 1 == 0 ? Array("Charset".utf8) : texts[2 * index].filter(isTokenByte)
        let plain = texts[2 * index + 1].filter { $0 >= 0x20 && $0 < 0x7F }
        let isQuoted = form & 2 == 0
        let value = isQuoted ? plain : Array(plain.filter { $0 != UInt8(ascii: ";") }.drop { $0 == 0x22 })
        type += Array((form & 4 == 0 ? "; " : " ;\t").utf8) + name + [UInt8(ascii: "=")]
        type += isQuoted ? plain.quoted(escapingAll: form & 4 != 0) : value
        // Blanks at the end of a value that is not quoted are none of its bytes.
        let isEmpty = isQuoted ? value.isEmpty : value.allSatisfy { $0 == 0x20 }
        if name.lowered.text == "charset", !isEmpty { charsets.append(value.text) }
    }
    var headers = HTTPHeaders()
    headers.add("Content-Type", "text/plain; charset=utf-16le")
    headers.add("Content-Type", bytes: type)
    let meant = charsets.first.map { Charset(label: $0) }
    do throws(HTTPError) {
        requireEqual(try headers.charset(), meant ?? nil, "the charset of the parameters")
    } catch {
        require(charsets.first != nil && meant == .some(nil), "an error only for an unknown label")
    }
}

/// What the splitter makes of pieces.
private struct SplitLines: Equatable {
    private(set) var lines: [[UInt8]] = []
    private var isTooLong = false

    init(_ input: [UInt8], cutAt cuts: [Int], limit: Int) {
        var splitter = LineSplitter(limit: limit)
        var start = 0
        do {
            for end in cuts.filter({ $0 < input.count }) + [input.count] {
                splitter.feed(Array(input[start..<end]))
                while let line = try splitter.next() { lines.append(line) }
                start = end
            }
            if let rest = splitter.rest() { lines.append(rest) }
        } catch {
            isTooLong = true
        }
    }
}

/// The lines of a text that is there as a whole.
private func simpleLines(_ input: [UInt8]) -> [[UInt8]] {
    var (lines, line) = ([[UInt8]](), [UInt8]())
    for (index, byte) in input.enumerated() {
        if byte == 0x0A, index > 0, input[index - 1] == 0x0D { continue }
        if byte == 0x0A || byte == 0x0D {
            lines.append(line)
            line = []
        } else {
            line.append(byte)
        }
    }
    if !line.isEmpty { lines.append(line) }
    if let first = lines.first, first.starts(with: [0xEF, 0xBB, 0xBF]) {
        lines[0] = Array(first.dropFirst(3))
    }
    return lines
}

/// Writes an event in its plainest form, and reads it.
private func reread(_ event: ServerSentEvent) -> ServerSentEvent? {
    var lines = ["event: \(event.type)", "id: \(event.id)"]
    lines += event.data.split(separator: "\n", omittingEmptySubsequences: false).map { "data: \($0)" }
    if let retry = event.retry {
        lines.append("retry: \(retry.components.seconds * 1000 + milliseconds(of: retry))")
    }
    var parser = EventParser(limit: 1 << 24)
    for line in lines { _ = try? parser.take(Array(line.utf8)) }
    return try? parser.take([])
}

private func milliseconds(of duration: Duration) -> Int64 {
    duration.components.attoseconds / 1_000_000_000_000_000
}
