internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// The format of the file in which a resolver cache keeps its answers.
///
/// The first line names the format and its version. Each line after it holds one answer behind its checksum:
/// host, port (0 for any; `8080/http` is the port of that scheme alone), expiry in Unix time, time to live in
/// seconds, `ordered` or `any` with the checksum of the name of the resolver behind the cache, canonical name
/// or `-`, the endpoints, `by`, and the author. A line that cannot be read is skipped; of several for one key
/// the last one counts, and without endpoints it says that there is no answer any more.
///
///     direct-http answers 1
///     27fff3c2 www.example.com 0 1700000300 300 any/50b6e5a3 - 192.0.2.7 [2001:db8::7]:8443 by resolver dns
enum AnswerFile {
    /// One answer of the file.
    struct Line: Equatable {
        var key: AnswerKey
        var expiry: UnixTime
        /// The time to live that the answer had when it came.
        var seconds: Int64
        var endpoints: [Endpoint]
        var author: AddressSource.Author
        /// The checksum of the name of the resolver that was asked; `nil` in files of earlier versions.
        var policy: UInt32?
        var canonicalName: DomainName?
        var isStrictlyOrdered = false
    }

    /// The first line.
    static let heading = Array("direct-http answers 1\n".utf8)

    /// Returns the lines for these answers.
    static func text(of lines: some Sequence<Line>) -> [UInt8] {
        var text: [UInt8] = []
        for line in lines {
            let content = Array(content(of: line).utf8)
            text += Hex.encode(padded: content.withSpan(checksum)).utf8
            text.append(UInt8(ascii: " "))
            text += content
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    /// Returns the answers of a file, each key once, without the lines that cannot be read.
    ///
    /// A file of another version has none: it may mean other things by the same words.
    static func read(_ text: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var places: [AnswerKey: Int] = [:]
        let pieces = text.split(separator: UInt8(ascii: "\n"))
        guard let first = pieces.first, first.elementsEqual(heading.dropLast()) else { return [] }
        for piece in pieces.dropFirst() {
            guard let line = line(Array(piece)) else { continue }
            if let place = places[line.key] {
                lines[place] = line
            } else {
                places[line.key] = lines.count
                lines.append(line)
            }
        }
        return lines.filter { !$0.endpoints.isEmpty }
    }

    private static func content(of line: Line) -> String {
        var words = [
            line.key.hostText, line.key.portText, String(line.expiry.seconds), String(line.seconds),
        ]
        let policy = line.policy.map { "/" + Hex.encode(padded: $0) } ?? ""
        words.append((line.isStrictlyOrdered ? "ordered" : "any") + policy)
        words.append(line.canonicalName?.text ?? "-")
        words += line.endpoints.map(\.description)
        words.append("by")
        words.append(name(of: line.author))
        return words.joined(separator: " ")
    }

    /// Parses a line; `nil` if it is malformed or its checksum is wrong.
    private static func line(_ text: [UInt8]) -> Line? {
        let text = text[...]
        let all = text.span
        guard all.count > 9, let sum = UInt32(String(copying: all.extracting(..<8)), radix: 16) else {
            return nil
        }
        let content = all.extracting(9...)
        guard checksum(content) == sum else { return nil }
        // Only the resolver's name may contain spaces, so it is the last field.
        let words = String(copying: content).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count > 7, let key = AnswerKey(hostText: words[0], portText: words[1]),
            let expiry = Int64(words[2]), let seconds = Int64(words[3]), seconds >= 0,
            let order = words[4].split(separator: "/").first, order == "ordered" || order == "any",
            let end = words[6...].firstIndex(of: "by"), end < words.count - 1
        else { return nil }
        let endpoints = words[6..<end].compactMap { try? Endpoint(String($0)) }
        guard endpoints.count == end - 6 else { return nil }
        let canonicalName = words[5] == "-" ? nil : try? DomainName(String(words[5]))
        return Line(
            key: key,
            expiry: UnixTime(seconds: expiry),
            seconds: seconds,
            endpoints: endpoints,
            author: author(words[(end + 1)...].joined(separator: " ")),
            policy: words[4].contains("/")
                ? UInt32(words[4].dropFirst(order.count + 1), radix: 16) ?? 0 : nil,
            canonicalName: canonicalName,
            isStrictlyOrdered: order == "ordered"
        )
    }

    private static func name(of author: AddressSource.Author) -> String {
        switch author {
        case .request: "request"
        case .staticMap: "map"
        case .url: "url"
        case .system: "system"
        case .proxy: "proxy"
        case .resolver(let name): "resolver " + name.filter { $0 != "\n" && $0 != "\r\n" }
        }
    }

    private static func author(_ text: String) -> AddressSource.Author {
        switch text {
        case "request": .request
        case "map": .staticMap
        case "url": .url
        case "system": .system
        case "proxy": .proxy
        default: .resolver(text.hasPrefix("resolver ") ? String(text.dropFirst(9)) : text)
        }
    }

    /// FNV-1a. It detects damage by a disk or an editor and is no protection against an attacker.
    static func checksum(_ bytes: Span<UInt8>) -> UInt32 {
        var sum: UInt32 = 0x811C_9DC5
        for index in bytes.indices { sum = (sum ^ UInt32(bytes[index])) &* 0x0100_0193 }
        return sum
    }
}

extension AnswerKey {
    fileprivate var hostText: String { isComplete ? host.text + "." : host.text }
    fileprivate var portText: String { isPlain ? "\(port)/http" : String(port) }

    /// Parses the name and the port, with the scheme; `nil` if one is malformed.
    fileprivate init?(hostText: Substring, portText: Substring) {
        let isComplete = hostText.hasSuffix(".")
        guard let host = try? DomainName(String(isComplete ? hostText.dropLast() : hostText)) else {
            return nil
        }
        let isPlain = portText.hasSuffix("/http")
        guard let port = UInt16(isPlain ? portText.dropLast(5) : portText), port > 0 || !isPlain else {
            return nil
        }
        self.init(host: host, port: port, isPlain: isPlain, isComplete: isComplete)
    }
}
