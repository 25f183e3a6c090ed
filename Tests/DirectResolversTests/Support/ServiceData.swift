import DirectResolvers

@testable import DirectCore

/// Writes the data of HTTPS records, right or wrong.
struct ServiceData {
    var priority: UInt16 = 1
    var target = ""
    /// The parameters in their order.
    var parameters: [(key: UInt16, value: [UInt8])] = []

    /// The data of a record with these parameters, in the order of their keys.
    static func record(
        _ priority: UInt16 = 1,
        _ target: String = "",
        alpn: [String] = [],
        port: UInt16? = nil,
        hints: [String] = [],
        ech: [UInt8]? = nil
    ) -> [UInt8] {
        var data = ServiceData(priority: priority, target: target)
        if !alpn.isEmpty { data.parameters.append((1, names(alpn))) }
        if let port { data.parameters.append((3, [UInt8(port >> 8), UInt8(port & 255)])) }
        let hints = hints.compactMap { IPAddress($0)?.bytes }
        for (key, size) in [(UInt16(4), 4), (6, 16)] {
            if key == 6, let ech { data.parameters.append((5, ech)) }
            let some = hints.filter { $0.count == size }.flatMap { $0 }
            if !some.isEmpty { data.parameters.append((key, some)) }
        }
        return data.bytes
    }

    static func names(_ names: [String]) -> [UInt8] {
        names.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    }

    var bytes: [UInt8] {
        var bytes = priority.bigEndianBytes + DNSReply.name(target)
        for (key, value) in parameters {
            bytes += key.bigEndianBytes + UInt16(value.count).bigEndianBytes + value
        }
        return bytes
    }

    /// A list made by OpenSSL 4.0.3: `openssl ech -public_name cover.example.test`.
    static let ech =
        Base64.decode(
            "AEX+DQBBfAAgACAEMNl9zYtSSzrwJmR4fU9CGs12P4MKNjrzeAwR1M1YLQAEAAEAAQASY292ZXIuZXhhbXBsZS50ZXN0AAA="
        ) ?? []
}

/// The records of a few names, as a server has them.
struct Zone: Sendable {
    private var records: [String: [DNSReply.Record]] = [:]
    /// The time in the SOA record of answers without records; `nil` leaves it out.
    var denialSeconds: UInt32?

    /// Adds records: addresses, or the data of HTTPS records.
    mutating func add(_ name: String, _ addresses: String..., https: [[UInt8]] = [], seconds: UInt32 = 300) {
        let owner = DNSReply.question
        for address in addresses {
            let record = DNSReply.Record.a(owner, address, seconds)
            records["\(name) \(record.type)", default: []].append(record)
        }
        for data in https {
            let record = DNSReply.Record(name: owner, type: 65, seconds: seconds, data: data)
            records["\(name) 65", default: []].append(record)
        }
    }

    /// The name and the type of a question, such as `a.test 65`.
    static func question(_ message: [UInt8]) -> String {
        var labels: [String] = []
        var position = 12
        while message[position] > 0 {
            let size = Int(message[position])
            labels.append(String(decoding: message[(position + 1)...(position + size)], as: UTF8.self))
            position += size + 1
        }
        return "\(labels.joined(separator: ".")) \(message[position + 2])"
    }

    func reply(to message: [UInt8]) -> DNSReply {
        var reply = DNSReply.reply(to: message, records[Self.question(message)] ?? [])
        if reply.answers.isEmpty, let denialSeconds {
            let data = [0, 0] + Array(repeating: 0, count: 16) + denialSeconds.bytes
            reply.authority = [.init(name: DNSReply.name("test"), type: 6, seconds: 900, data: data)]
        }
        return reply
    }
}

extension UInt32 {
    fileprivate var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (24 - 8 * $0)) } }
}
