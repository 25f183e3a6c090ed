/// A protocol that servers speak without TLS, or before it: how it is recognised, and how it changes to TLS.
///
/// This is the one table of protocols. What `--starttls` takes is a part of it.
enum OtherProtocol: String, Hashable, Sendable, CaseIterable {
    case http = "plain HTTP"
    case http2 = "HTTP/2 without TLS"
    case ssh = "SSH"
    case smtp = "SMTP"
    case lmtp = "LMTP"
    case ftp = "FTP"
    /// A greeting that SMTP and FTP have in common.
    case mailOrFiles = "SMTP, LMTP or FTP"
    case imap = "IMAP"
    case pop = "POP3"
    case nntp = "NNTP"
    case sieve = "ManageSieve"
    case ldap = "LDAP"
    case postgres = "PostgreSQL"
    case mysql = "MySQL"
    case xmpp = "XMPP"
    case irc = "IRC"
    case unknown = "something else"

    /// How the protocol changes to TLS on request; `nil` if it does not.
    var upgrade: StartTLS? {
        switch self {
        case .smtp, .mailOrFiles: .smtp
        case .lmtp: .lmtp
        case .ftp: .ftp
        case .imap: .imap
        case .pop: .pop3
        case .nntp: .nntp
        case .sieve: .sieve
        case .ldap: .ldap
        case .postgres: .postgres
        case .mysql: .mysql
        case .xmpp: .xmpp
        case .irc: .irc
        case .http, .http2, .ssh, .unknown: nil
        }
    }

    /// The port that begins with TLS; `nil` if there is none.
    var portWithTLS: UInt16? {
        switch self {
        case .smtp, .mailOrFiles: 465
        case .ftp: 990
        case .imap: 993
        case .pop: 995
        case .nntp: 563
        case .ldap: 636
        case .xmpp: 5223
        case .irc: 6697
        default: nil
        }
    }

    /// The beginnings of what a server sends, before it is asked or in answer to a ClientHello.
    private static let beginnings: [(String, OtherProtocol)] = [
        ("HTTP/", .http), ("<?xml", .xmpp), ("<stream:", .xmpp), ("</stream:", .xmpp), ("<", .http),
        ("SSH-", .ssh), ("* OK", .imap), ("* PREAUTH", .imap), ("* BYE", .imap), ("* BAD", .imap),
        // Redis: what POP3 says it says after a greeting.
        ("-ERR unknown command", .unknown), ("-ERR Protocol error", .unknown), ("+OK", .pop), ("-ERR", .pop),
        ("200 ", .nntp), ("201 ", .nntp), ("400 ", .nntp), ("502 ", .nntp),
        ("\"IMPLEMENTATION\"", .sieve), ("NO \"", .sieve), ("BYE \"", .sieve),
        ("NOTICE ", .irc), ("ERROR :", .irc), ("E\0\0\0", .postgres), ("EFATAL", .postgres),
    ]

    /// Guesses the protocol. Returns `nil` if the bytes may be the start of a TLS record.
    init?(_ bytes: [UInt8]) {
        if bytes.isEmpty || (0x14...0x18).contains(bytes[0]) && (bytes.count < 2 || bytes[1] == 3) {
            return nil
        }
        self =
            Self.binary(bytes) ?? Self.reply(bytes)
            ?? Self.beginnings.first { bytes.starts(with: $0.0.utf8) }?.1 ?? .unknown
    }

    private static func binary(_ bytes: [UInt8]) -> OtherProtocol? {
        if bytes.beginsAsHTTP2 { return .http2 }
        guard bytes.count >= 5 else { return nil }
        // A packet of MySQL: three bytes of length, the number 0, then a greeting of version 10 or an error.
        if bytes[1] <= 4, bytes[2] == 0, bytes[3] <= 1, bytes[4] == 10 || bytes[4] == 0xFF { return .mysql }
        // The notice of disconnection, an extended response (RFC 4511, section 4.4.1).
        if bytes[0] == 0x30, bytes.prefix(16).contains(0x78) { return .ldap }
        // A message of IRC has the server's name before the command.
        let text = String(decoding: bytes, as: UTF8.self)
        return bytes[0] == UInt8(ascii: ":") && text.contains(" NOTICE ") ? .irc : nil
    }

    /// Guesses by a reply with a number. SMTP, LMTP and FTP have them in common (RFC 5321, section 4.2).
    private static func reply(_ bytes: [UInt8]) -> OtherProtocol? {
        guard ["220", "421", "554"].contains(where: { bytes.starts(with: $0.utf8) }) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).uppercased()
        if text.contains("LMTP") { return .lmtp }
        if text.contains("SMTP") || text.hasPrefix("554") { return .smtp }
        return text.contains("FTP") ? .ftp : .mailOrFiles
    }
}

extension Collection<UInt8> {
    /// Whether these are the first bytes of an HTTP/2 server: a SETTINGS frame on stream 0 (RFC 9113, section
    /// 3.4).
    var beginsAsHTTP2: Bool {
        let bytes = Array(prefix(9))
        return bytes.count == 9 && bytes[0] == 0 && bytes[3] == 4 && bytes[4] <= 1
            && bytes[5...].allSatisfy { $0 == 0 } && (Int(bytes[1]) << 8 | Int(bytes[2])) % 6 == 0
    }
}
