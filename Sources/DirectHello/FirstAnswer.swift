internal import DirectCore

/// Reads what a server of TLS says first, from the bytes on their way: its ServerHello, or the alert that
/// stands in its place. They may come in any pieces and any number of records.
package struct FirstAnswer {
    /// What the bytes are, as far as is known.
    package enum Verdict: Equatable, Sendable {
        /// They may be the beginning of an answer.
        case needsMore
        /// They are not TLS, or malformed.
        case other
        /// The server refuses with the alert of this number.
        case alert(UInt8)
        case hello(ServerHello)
    }

    private var verdict = Verdict.needsMore
    private var bytes: [UInt8] = []
    /// The bytes of the message, without the records' heads.
    private var message: [UInt8] = []

    /// Begins to read.
    package init() {}

    /// Takes the next bytes, and says what they are. After a verdict they are not looked at.
    package mutating func add(_ more: some Sequence<UInt8>) -> Verdict {
        guard verdict == .needsMore else { return verdict }
        bytes += more
        while verdict == .needsMore, let next = nextRecord() { verdict = next }
        return verdict
    }

    /// Takes one record; `nil` if it is not complete.
    private mutating func nextRecord() -> Verdict? {
        guard let kind = bytes.first else { return nil }
        guard kind == 22 || kind == 21, bytes.count < 2 || bytes[1] == 3 else { return .other }
        var reader = ByteReader(bytes[...])
        guard reader.take(3) != nil, let length = reader.number(bytes: 2) else { return nil }
        guard length > 0, length <= 1 << 14 else { return .other }
        guard let content = reader.take(length) else { return nil }
        let record = Array(content)
        bytes = Array(reader.rest)
        guard kind == 22 else {
            guard record.count == 2, record[0] == 1 || record[0] == 2 else { return .other }
            // A warning is no refusal, such as one on the name, which a hello follows; but the end is one.
            return record[0] == 1 && record[1] != 0 ? .needsMore : .alert(record[1])
        }
        message += record
        guard message[0] == 2, message.count <= 1 << 15 else { return .other }
        var hello = ByteReader(message[1...])
        guard let body = hello.vector(lengthBytes: 3) else { return .needsMore }
        return ServerHello(body: body).map { .hello($0) } ?? .other
    }
}

/// What a server has chosen (RFC 8446, section 4.1.3).
package struct ServerHello: Equatable, Sendable {
    /// The version; `nil` for one that is none of TLS 1.0 to 1.3, such as SSL 3.0.
    package let version: WireVersion?
    /// The group of TLS 1.3, as a number: it may be one that was not offered.
    package let group: UInt16?
    /// Whether the server asks for another hello, with a share of its group.
    package let asksAgain: Bool

    /// Reads the body of the message; `nil` if it does not have the form of one.
    init?(body: ArraySlice<UInt8>) {
        var reader = ByteReader(body)
        guard let legacy = reader.number(bytes: 2), let random = reader.take(32),
            reader.vector(lengthBytes: 1) != nil, reader.take(3) != nil
        else { return nil }
        var (number, group) = (UInt16(legacy), UInt16?.none)
        if !reader.isAtEnd {
            guard let block = reader.vector(lengthBytes: 2), reader.isAtEnd else { return nil }
            var extensions = ByteReader(block)
            guard let all = extensions.pairs() else { return nil }
            for (kind, value) in all {
                var field = ByteReader(value)
                guard kind == 43 || kind == 51 else { continue }
                guard let chosen = field.number(bytes: 2) else { return nil }
                if kind == 43 { number = UInt16(chosen) } else { group = UInt16(chosen) }
            }
        }
        (version, self.group) = (WireVersion(rawValue: number), group)
        asksAgain = random.elementsEqual(Self.randomOfRetry)
    }

    /// SHA-256 of "HelloRetryRequest".
    private static let randomOfRetry: [UInt8] = [
        0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
        0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
    ]
}
