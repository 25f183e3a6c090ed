internal import DirectHTTP

/// Finds the parts of a multipart body in its bytes (RFC 2046, section 5.1).
struct MultipartParser {
    enum Step {
        case part(MultipartPart)
        case needsMore
        /// The last delimiter was read.
        case end
    }

    /// The bytes in front of each part but the first: the line break belongs to the delimiter.
    private let delimiter: [UInt8]
    private let limit: Int
    /// What is not used up yet. A line break stands in front of the first line, which may be a delimiter.
    private var bytes: [UInt8] = [13, 10]
    /// The number of its bytes that have been searched for a delimiter.
    private var searched = 0
    /// Whether a delimiter was read: what is before the first one is no part.
    private var isInPart = false
    private var isAtEnd = false

    init(boundary: String, limit: Int) {
        delimiter = Array("\r\n--\(boundary)".utf8)
        self.limit = max(0, limit)
    }

    /// Whether a text may be a boundary: 1 to 70 characters of a set, the last one no space.
    static func isBoundary(_ text: String) -> Bool {
        let allowed = "'()+_,-./:=? ".utf8
        return (1...70).contains(text.utf8.count) && text.utf8.last != UInt8(ascii: " ")
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || allowed.contains(byte)
            }
    }

    mutating func append(_ piece: [UInt8]) {
        bytes += piece
    }

    /// Returns the next part, or why there is none.
    mutating func step() throws(MultipartError) -> Step {
        while !isAtEnd {
            guard let (place, line) = findDelimiter() else {
                // A delimiter may begin in the last bytes.
                guard bytes.count - delimiter.count - Self.longestPadding <= limit else {
                    throw .partTooLarge(limit: limit)
                }
                return .needsMore
            }
            guard place <= limit else { throw .partTooLarge(limit: limit) }
            let content = Array(bytes[..<place])
            bytes.removeFirst(line.end)
            searched = 0
            isAtEnd = line.isLast
            if isInPart { return .part(try Self.part(content)) }
            isInPart = true
        }
        return .end
    }

    /// The blanks behind a boundary, which gateways add.
    private static let longestPadding = 64

    /// Returns the place of the next delimiter, and where its line ends; `nil` if more bytes are needed.
    private mutating func findDelimiter() -> (place: Int, line: (end: Int, isLast: Bool))? {
        while searched + delimiter.count <= bytes.count {
            if bytes[searched] == 13, bytes[searched..<(searched + delimiter.count)].elementsEqual(delimiter)
            {
                switch endOfLine(from: searched + delimiter.count) {
                case .needsMore: return nil
                case .end(let end, let isLast): return (searched, (end, isLast))
                // The boundary is the beginning of another line: content, as of a nested multipart.
                case .isContent: break
                }
            }
            searched += 1
        }
        return nil
    }

    private enum LineEnd {
        case end(Int, isLast: Bool)
        case needsMore
        case isContent
    }

    /// Reads what may stand behind a boundary: two hyphens, or blanks and a line break.
    private func endOfLine(from start: Int) -> LineEnd {
        guard start + 1 < bytes.count else { return .needsMore }
        if bytes[start] == UInt8(ascii: "-"), bytes[start + 1] == UInt8(ascii: "-") {
            return .end(start + 2, isLast: true)
        }
        var place = start
        while place < bytes.count, bytes[place] == 32 || bytes[place] == 9 {
            place += 1
            if place - start > Self.longestPadding { return .isContent }
        }
        guard place + 1 < bytes.count else {
            return place == bytes.count || bytes[place] == 13 ? .needsMore : .isContent
        }
        // The line break stays: it ends the header fields of a part without any.
        return bytes[place] == 13 && bytes[place + 1] == 10 ? .end(place, isLast: false) : .isContent
    }

    /// Returns the part of these bytes, which begin with the line break of the delimiter.
    private static func part(_ content: [UInt8]) throws(MultipartError) -> MultipartPart {
        guard content.count >= 2 else { throw .badFields }
        var (headers, lines, place) = (HTTPHeaders(), 0, 2)
        var field: (name: String, value: [UInt8])?
        while true {
            guard let end = lineEnd(in: content, from: place) else { throw .badFields }
            let line = content[place..<end]
            place = min(end + 2, content.count)
            lines += 1
            guard lines <= 100 || line.isEmpty else { throw .badFields }
            if let first = line.first, first == 32 || first == 9 {
                guard field != nil else { throw .badFields }
                field?.value += [32] + trimmed(line)
                continue
            }
            if let whole = field { headers.add(whole.name, bytes: whole.value) }
            guard !line.isEmpty else { break }
            field = try self.field(line)
        }
        return MultipartPart(headers: headers, body: Array(content[place...]))
    }

    /// Returns where the line ends. The last line of fields may end with the part, which has no content then.
    private static func lineEnd(in content: [UInt8], from start: Int) -> Int? {
        var place = start
        while place < content.count {
            if content[place] == 13, place + 1 < content.count, content[place + 1] == 10 { return place }
            // A line must not contain what a reader might take for its end.
            if content[place] == 13 || content[place] == 10 || content[place] == 0 { return nil }
            place += 1
        }
        return place
    }

    private static func field(_ line: ArraySlice<UInt8>) throws(MultipartError) -> (String, [UInt8]) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .badFields }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        // A method is a token, as the name of a field is.
        guard HTTPMethod(validating: name) != nil else { throw .badFields }
        return (name, trimmed(line[(colon + 1)...]))
    }

    /// Returns a value without the blanks around it.
    private static func trimmed(_ line: ArraySlice<UInt8>) -> [UInt8] {
        var value = line.drop { $0 == 32 || $0 == 9 }
        while let last = value.last, last == 32 || last == 9 { value.removeLast() }
        return Array(value)
    }
}
