internal import DirectCore

/// A protocol that begins without TLS and changes to it on request.
enum StartTLS: String, Sendable, CaseIterable {
    case smtp, lmtp, imap, pop3, ftp, nntp, sieve, ldap, postgres, mysql, xmpp
    case xmppServer = "xmpp-server"
    case irc

    /// One step of the dialogue.
    enum Step {
        case send([UInt8])
        /// Receives until the bytes are complete.
        case receive(@Sendable ([UInt8]) -> Answer)
    }

    /// What the bytes that have been received so far are.
    enum Answer {
        case incomplete
        case complete
        /// They are not what the server has to send.
        case refused
    }

    /// A part of the dialogue.
    enum Part: Hashable, Sendable {
        /// What the server says first.
        case greeting
        /// What comes between that and the request.
        case introduction
        /// The request to change to TLS.
        case request
    }

    /// The steps, each with its part of the dialogue.
    func parts(host: String) -> [(Part, Step)] {
        let steps = steps(host: host)
        return steps.enumerated().map { index, step in
            if index == 0, case .receive = step { return (.greeting, step) }
            return (index >= steps.count - 2 ? .request : .introduction, step)
        }
    }

    /// The port that the protocol uses without TLS, for targets without a port.
    var port: UInt16 {
        switch self {
        case .smtp: 25
        // It has no port of its own (RFC 2033, section 4); 24 is what servers use.
        case .lmtp: 24
        case .ftp: 21
        case .nntp: 119
        case .sieve: 4190
        case .irc: 6667
        case .xmppServer: 5269
        case .imap: 143
        case .pop3: 110
        case .ldap: 389
        case .postgres: 5432
        case .mysql: 3306
        case .xmpp: 5222
        }
    }

    /// The dialogue, up to the server's consent.
    func steps(host: String) -> [Step] {
        switch self {
        case .smtp, .lmtp:
            [
                .receive { Self.reply($0, code: "220") },
                .send(Array("\(self == .smtp ? "EHLO" : "LHLO") sni-probe\r\n".utf8)),
                .receive { Self.reply($0, code: "250") }, .send(Array("STARTTLS\r\n".utf8)),
                .receive { Self.reply($0, code: "220") },
            ]
        case .imap:
            [
                .receive { Self.line($0, begin: "* OK") }, .send(Array("a STARTTLS\r\n".utf8)),
                .receive { Self.line($0, begin: "a OK", skipping: "* ") },
            ]
        case .pop3:
            [
                .receive { Self.line($0, begin: "+OK") }, .send(Array("STLS\r\n".utf8)),
                .receive { Self.line($0, begin: "+OK") },
            ]
        // RFC 4217, section 4.
        case .ftp:
            [
                .receive { Self.reply($0, code: "220", isLoose: true) }, .send(Array("AUTH TLS\r\n".utf8)),
                .receive { Self.reply($0, code: "234", isLoose: true) },
            ]
        // RFC 4642, section 2.2.
        case .nntp:
            [
                .receive { Self.line($0, begin: "20") }, .send(Array("STARTTLS\r\n".utf8)),
                .receive { Self.line($0, begin: "382") },
            ]
        // RFC 5804, sections 1.7 and 2.2: the capabilities, then OK.
        case .sieve:
            [
                .receive { Self.line($0, begin: "OK", skipping: "\"") }, .send(Array("STARTTLS\r\n".utf8)),
                .receive { Self.line($0, begin: "OK") },
            ]
        // The extension "tls" of IRCv3: numeric 670 is the consent. Other messages may come before.
        case .irc: [.send(Array("STARTTLS\r\n".utf8)), .receive { Self.ircReply($0) }]
        case .ldap: [.send(Self.ldapRequest), .receive(Self.ldapResponse)]
        case .postgres:
            [
                .send([0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F]),
                .receive(Self.postgresReply),
            ]
        case .mysql: [.receive(Self.mysqlGreeting), .send(Self.mysqlRequest)]
        case .xmpp, .xmppServer:
            [
                .send(Array(Self.xmppStream(host, isServer: self == .xmppServer).utf8)),
                .receive { Self.xmppFeatures($0) },
                .send(Array("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>".utf8)),
                .receive { Self.element($0, name: "proceed", refusal: "failure") },
            ]
        }
    }

    /// A reply of SMTP: lines that begin with the same code, the last of which has a space after it (RFC
    /// 5321, section 4.2.1).
    ///
    /// - Parameter isLoose: Whether lines between the first and the last may begin with anything, as those of
    ///   FTP (RFC 959, section 4.2).
    private static func reply(_ bytes: [UInt8], code: String, isLoose: Bool = false) -> Answer {
        guard bytes.last == 0x0A else { return .incomplete }
        let lines = text(bytes).split(whereSeparator: \.isNewline)
        guard let first = lines.first, let last = lines.last, first.hasPrefix(code) else { return .refused }
        if isLoose, first.hasPrefix(code + "-") {
            return last.hasPrefix(code + " ") ? .complete : .incomplete
        }
        guard lines.allSatisfy({ $0.hasPrefix(code) }) else { return .refused }
        return last.hasPrefix(code + "-") ? .incomplete : .complete
    }

    /// A line that begins like this, after lines that begin with `skipping`.
    private static func line(_ bytes: [UInt8], begin: String, skipping: String? = nil) -> Answer {
        guard bytes.last == 0x0A, let last = text(bytes).split(whereSeparator: \.isNewline).last else {
            return .incomplete
        }
        if last.hasPrefix(begin) { return .complete }
        if let skipping, last.hasPrefix(skipping) { return .incomplete }
        return .refused
    }

    /// The extended request 1.3.6.1.4.1.1466.20037 (RFC 4511, section 4.14), as message 1.
    private static let ldapRequest: [UInt8] = {
        let name = Array("1.3.6.1.4.1.1466.20037".utf8)
        let request: [UInt8] = [0x80, UInt8(name.count)] + name
        let message: [UInt8] = [0x02, 0x01, 0x01, 0x77, UInt8(request.count)] + request
        return [0x30, UInt8(message.count)] + message
    }()

    /// The extended response: a sequence of the number 1 and a response whose result code, an enumeration, is
    /// 0.
    private static func ldapResponse(_ bytes: [UInt8]) -> Answer {
        guard let message = BER(bytes[...], tag: 0x30) else { return refusal(bytes, tag: 0x30) }
        guard message.isComplete else { return .incomplete }
        return ldapCode(message) == 0 ? .complete : .refused
    }

    private static func ldapCode(_ message: BER) -> UInt8? {
        guard let number = BER(message.content, tag: 0x02), Array(number.content) == [1],
            let response = BER(number.rest, tag: 0x78), let code = BER(response.content, tag: 0x0A)
        else { return nil }
        return code.content.count == 1 ? code.content.first : nil
    }

    /// The letter S is the consent. An error has its length after the letter E.
    private static func postgresReply(_ bytes: [UInt8]) -> Answer {
        guard bytes.first == UInt8(ascii: "E") else {
            return bytes.isEmpty ? .incomplete : bytes == [UInt8(ascii: "S")] ? .complete : .refused
        }
        guard bytes.count >= 5 else { return .incomplete }
        let size = bytes[1..<5].reduce(0) { $0 << 8 | Int($1) }
        return bytes.count > size || size > 8192 ? .refused : .incomplete
    }

    private static func refusal(_ bytes: [UInt8], tag: UInt8) -> Answer {
        bytes.isEmpty || bytes[0] == tag && bytes.count < 6 ? .incomplete : .refused
    }

    /// The greeting of MySQL: a packet of version 10, whose capabilities include TLS; or one with an error.
    private static func mysqlGreeting(_ bytes: [UInt8]) -> Answer {
        guard bytes.count >= 5 else { return .incomplete }
        let size = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
        guard bytes[3] == 0, [10, 0xFF].contains(bytes[4]), size < 1024 else { return .refused }
        guard bytes.count >= size + 4 else { return .incomplete }
        guard bytes[4] == 10 else { return .refused }
        // The version ends with a zero; then there are the connection's number, 8 bytes, a zero, and the
        // capabilities.
        guard let zero = bytes[5...].firstIndex(of: 0), zero + 15 < bytes.count else { return .refused }
        return bytes[zero + 15] & 0x08 != 0 ? .complete : .refused
    }

    /// What a refusal says, where there are words among other things.
    func words(of refusal: [UInt8]) -> [UInt8] {
        let words: [UInt8]? =
            switch self {
            case .mysql where refusal.count > 7 && refusal[4] == 0xFF:
                Array("ERROR \(Int(refusal[5]) | Int(refusal[6]) << 8): ".utf8) + refusal[7...]
            case .mysql where refusal.count > 7 && refusal[4] == 10:
                Array("MySQL ".utf8) + refusal[5...].prefix { $0 != 0 } + Array(" without TLS".utf8)
            case .ldap:
                BER(refusal[...], tag: 0x30).flatMap(Self.ldapCode).map { Array("result code \($0)".utf8) }
            case .postgres:
                // Fields that end with a zero; that of the letter M is the message.
                refusal.dropFirst(5).split(separator: 0).first { $0.first == UInt8(ascii: "M") }
                    .map { Array("ERROR: ".utf8) + $0.dropFirst() }
            case .xmpp, .xmppServer:
                Self.text(refusal).firstRange(of: "<stream:error").map {
                    Array(Self.text(refusal)[$0.lowerBound...].utf8)
                }
            default: nil
            }
        return words ?? refusal
    }

    /// The request of MySQL for TLS: capabilities (protocol 4.1, secure connection, TLS), packet size,
    /// character set.
    private static let mysqlRequest: [UInt8] =
        [32, 0, 0, 1, 0x00, 0x8A, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 33] + [UInt8](repeating: 0, count: 23)

    /// A reply of IRC: a line whose second word is 670, or 691 and other errors for a refusal.
    private static func ircReply(_ bytes: [UInt8]) -> Answer {
        guard bytes.last == 0x0A, let line = text(bytes).split(whereSeparator: \.isNewline).last else {
            return .incomplete
        }
        let words = line.split(separator: " ")
        guard words.count > 1, words[0].hasPrefix(":") else {
            return line.hasPrefix("ERROR") ? .refused : .incomplete
        }
        if words[1] == "670" { return .complete }
        return words[1].count == 3 && (words[1].hasPrefix("4") || words[1] == "691") ? .refused : .incomplete
    }

    private static func xmppStream(_ host: String, isServer: Bool) -> String {
        "<?xml version='1.0'?><stream:stream to='\(host)' version='1.0' "
            + "xmlns='jabber:\(isServer ? "server" : "client")' "
            + "xmlns:stream='http://etherx.jabber.org/streams'>"
    }

    /// The features of a stream, which must contain `starttls` (RFC 6120, section 5.4.1).
    private static func xmppFeatures(_ bytes: [UInt8]) -> Answer {
        let text = text(bytes)
        if text.contains("</stream:features>") || text.contains("<stream:features/>") {
            return text.contains("urn:ietf:params:xml:ns:xmpp-tls") ? .complete : .refused
        }
        return text.contains("</stream:stream>") || !text.isEmpty && !text.hasPrefix("<")
            ? .refused : .incomplete
    }

    private static func element(_ bytes: [UInt8], name: String, refusal: String) -> Answer {
        let text = text(bytes)
        guard text.hasSuffix(">") else { return .incomplete }
        if text.contains("<\(refusal)") || text.contains("</stream:stream>") { return .refused }
        guard text.contains("<\(name)") else { return .refused }
        return text.hasSuffix("/>") || text.hasSuffix("</\(name)>") ? .complete : .incomplete
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// One element of BER with a definite length of at most two bytes.
private struct BER {
    let content: ArraySlice<UInt8>
    let rest: ArraySlice<UInt8>
    let isComplete: Bool

    /// Returns `nil` if the element has another tag, or its length has not arrived or is not of this form.
    init?(_ bytes: ArraySlice<UInt8>, tag: UInt8) {
        guard bytes.count >= 2, bytes[bytes.startIndex] == tag else { return nil }
        var start = bytes.startIndex + 2
        var count = Int(bytes[start - 1])
        if count >= 0x80 {
            let more = count - 0x80
            guard (1...4).contains(more), bytes.count >= 2 + more else { return nil }
            count = bytes[start..<start + more].reduce(0) { $0 << 8 | Int($1) }
            start += more
        }
        isComplete = bytes.endIndex - start >= count
        let end = min(start + count, bytes.endIndex)
        content = bytes[start..<end]
        rest = bytes[end...]
    }
}
