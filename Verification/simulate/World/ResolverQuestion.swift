internal import DirectCore

/// A question to a resolver's server, and the answer in the format of its service.
struct ResolverQuestion {
    let name: String
    /// The record types that are asked for: 1 for IPv4, 28 for IPv6.
    let types: [Int]
    /// The bytes of the question in a DNS message.
    private let section: [UInt8]

    /// Reads a DNS message; `nil` if it has no question.
    init?(message: [UInt8]) {
        guard let (name, end) = Self.name(in: message), message.count >= end + 4 else { return nil }
        self.name = name
        types = [Int(message[end]) << 8 | Int(message[end + 1])]
        section = Array(message[12..<end + 4])
    }

    /// The place behind the question in its DNS message.
    var end: Int { 12 + section.count }

    /// The DNS message without EDNS.
    func plain(_ message: [UInt8]) -> [UInt8] {
        var plain = Array(message.prefix(end))
        plain[11] = 0
        return plain
    }

    /// Reads a request; `nil` if it is not in the format.
    init?(_ head: ReceivedHead, body: [UInt8], format: ResolverPlan.Format) {
        let parts = head.target.split(separator: "?", maxSplits: 1)
        var values: [String: String] = [:]
        for pair in parts.count == 2 ? parts[1].split(separator: "&") : [] {
            let both = pair.split(separator: "=", maxSplits: 1)
            values[String(both[0])] = both.count == 2 ? String(both[1]) : ""
        }
        let isRight: Bool
        switch format {
        case .wireByPost: isRight = head.method == "POST" && head.target == "/dns-query"
        case .wireByGet: isRight = head.method == "GET" && parts[0] == "/dns-query"
        case .json: isRight = head.method == "GET" && parts[0] == "/resolve"
        case .dnsPod: isRight = head.method == "GET" && parts[0] == "/d"
        case .alibaba: isRight = head.method == "GET" && parts[0] == "/100000/d"
        case .datagram: isRight = false
        }
        guard isRight else { return nil }
        switch format {
        case .wireByPost, .wireByGet:
            self.init(message: format == .wireByPost ? body : Self.decode(values["dns"] ?? ""))
        case .json:
            guard let name = values["name"], let type = values["type"].flatMap({ Int($0) }) else {
                return nil
            }
            self.init(name: name, types: [type])
        case .dnsPod:
            // A question without a type is for IPv4.
            guard let name = values["dn"], [nil, "aaaa"].contains(values["type"]) else { return nil }
            self.init(name: name, types: [values["type"] == nil ? 1 : 28])
        case .alibaba:
            guard let name = values["host"] else { return nil }
            self.init(name: name, types: [28, 1])
        case .datagram: return nil
        }
    }

    private init(name: String, types: [Int]) {
        (self.name, self.types, section) = (name, types, [])
    }

    /// The answer's media type and bytes.
    ///
    /// - Parameters:
    ///   - addresses: The addresses, of which those of the types asked for are sent.
    ///   - code: The response code of DNS: 3 means that there is no such name.
    func answer(
        _ addresses: [IPAddress],
        name: String,
        seconds: Int,
        code: Int = 0,
        records: [[UInt8]] = [],
        format: ResolverPlan.Format
    ) -> (media: String, bytes: [UInt8]) {
        let meant = addresses.filter { types.contains($0.bytes.count == 4 ? 1 : 28) }
        switch format {
        case .wireByPost, .wireByGet, .datagram:
            let isOwn = name == self.name
            let section = isOwn ? self.section : Self.encode(name) + self.section.suffix(4)
            var bytes: [UInt8] = [
                0, 0, 0x81, 0x80 | UInt8(code), 0, 1, 0, UInt8(meant.count + records.count), 0, 0, 0, 0,
            ]
            bytes += section
            for address in meant {
                let type: UInt8 = address.bytes.count == 4 ? 1 : 28
                bytes += [0xC0, 12, 0, type, 0, 1, 0, 0, UInt8(seconds >> 8), UInt8(seconds & 255)]
                bytes += [0, UInt8(address.bytes.count)] + address.bytes
            }
            for data in records {
                bytes += [0xC0, 12, 0, UInt8(Self.recordType), 0, 1, 0, 0, UInt8(seconds >> 8)]
                bytes += [UInt8(seconds & 255), 0, UInt8(data.count)] + data
            }
            return ("application/dns-message", bytes)
        case .json:
            let data =
                meant.map { (type: $0.bytes.count == 4 ? 1 : 28, text: "\($0)") }
                + records.map { record in
                    // The form of any record (RFC 3597, section 5).
                    let digits = record.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
                        .joined()
                    return (type: Self.recordType, text: "\\\\# \(record.count) \(digits)")
                }
            let all = data.map {
                "{\"name\":\"\(name).\",\"type\":\($0.type),\"TTL\":\(seconds),\"data\":\"\($0.text)\"}"
            }
            let text = "{\"Status\":\(code),\"Answer\":[\(all.joined(separator: ","))]}"
            return ("application/json", Array(text.utf8))
        case .dnsPod:
            let list = meant.map { "\($0)" }.joined(separator: ";")
            return ("text/plain", Array((list.isEmpty ? "" : "\(list),\(seconds)").utf8))
        case .alibaba:
            func list(_ count: Int) -> String {
                meant.filter { $0.bytes.count == count }.map { "\"\($0)\"" }.joined(separator: ",")
            }
            let text =
                "{\"host\":\"\(name)\",\"ips\":[\(list(4))],\"ipsv6\":[\(list(16))],\"ttl\":\(seconds)}"
            return ("application/json", Array(text.utf8))
        }
    }

    private static func name(in message: [UInt8]) -> (String, end: Int)? {
        var place = 12
        var labels: [String] = []
        while place < message.count, message[place] != 0 {
            let end = place + 1 + Int(message[place])
            guard end < message.count else { return nil }
            labels.append(String(decoding: message[place + 1..<end], as: UTF8.self))
            place = end
        }
        return place < message.count ? (labels.joined(separator: "."), place + 1) : nil
    }

    static func encode(_ name: String) -> [UInt8] {
        name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    /// Decodes base64 for URLs.
    private static func decode(_ text: String) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var bytes: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in text.utf8 {
            guard let value = alphabet.firstIndex(of: byte) else { return [] }
            (bits, count) = ((bits << 6 | value) & 0xFFFF, count + 6)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(bits >> count & 255))
            }
        }
        return bytes
    }
}
