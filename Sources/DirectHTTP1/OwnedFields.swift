/// The request fields that the library writes itself, the one that makes it write another, and the check of
/// the caller's fields against them: one that is equal to the library's is left out, any other is refused.
enum OwnedFields {
    /// The result of the check of one field.
    enum Verdict {
        case passes
        /// The field passes, and the library names it in Connection.
        case passesNamed
        /// The field repeats what the library writes, so it is left out.
        case passedOver
        case refused
    }

    /// Whether the library writes this field itself, or another one because of it.
    static func isOwned(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        // Most names do not have the length of any of them.
        let lengths: UInt64 = 1 << 2 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 10 | 1 << 14 | 1 << 17
        guard name.count < 64, lengths &>> UInt64(truncatingIfNeeded: name.count) & 1 == 1 else {
            return false
        }
        guard let bytes = name.baseAddress else { return false }
        return switch name.count {
        case 2: unsafe bytes.spells("te", count: 2)
        case 4: unsafe bytes.spells("host", count: 4)
        case 6: unsafe bytes.spells("expect", count: 6)
        case 7: unsafe bytes.spells("upgrade", count: 7)
        case 10: unsafe bytes.spells("connection", count: 10)
        case 14: unsafe bytes.spells("content-length", count: 14)
        default: unsafe bytes.spells("transfer-encoding", count: 17)
        }
    }

    static func verdict(
        _ name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>,
        in head: RequestHead,
        _ framing: BodyFraming,
        _ announced: RequestHead.Announcements
    ) -> Verdict {
        guard unsafe isOwned(name) else { return .passes }
        if name.count == 2 { return unsafe namesChunked(value) ? .refused : .passesNamed }
        if name.count == 7 { return announced.upgrade && !value.isEmpty ? .passes : .refused }
        let own = written(nameCount: name.count, in: head, framing, announced)
        // Such a field is one of a request that was shown with all its fields. One that differs could frame
        // another message than the library's (RFC 9112, section 11.2).
        return unsafe own.withUnsafeBufferPointer { own in
            unsafe !own.isEmpty && value.equalsIgnoringCase(own) ? .passedOver : .refused
        }
    }

    /// Returns the value that the library writes in its field with a name of this length; empty if it does
    /// not write that field.
    private static func written(
        nameCount: Int,
        in head: RequestHead,
        _ framing: BodyFraming,
        _ announced: RequestHead.Announcements
    ) -> [UInt8] {
        switch nameCount {
        case 4: return head.authority
        case 6: return announced.expectContinue && framing.hasContent ? Array("100-continue".utf8) : []
        case 10: return Array(connectionOptions(of: head, announced).utf8)
        case 14: return framing.contentLength(in: head.method).map { Array("\($0)".utf8) } ?? []
        default: return framing == .chunked ? Array("chunked".utf8) : []
        }
    }

    /// Returns the value of Connection, which names fields that are for the next recipient only (RFC 9110,
    /// section 7.6.1); empty if there is none.
    static func connectionOptions(of head: RequestHead, _ announced: RequestHead.Announcements) -> String {
        let hasTE = head.headers.index(of: "te") != nil || head.extra.index(of: "te") != nil
        let hasUpgrade = announced.upgrade && head.headers.index(of: "upgrade") != nil
        let options = [(announced.close, "close"), (hasTE, "TE"), (hasUpgrade, "upgrade")]
        return options.filter(\.0).map(\.1).joined(separator: ", ")
    }

    /// Whether a value of TE names the coding that every recipient of HTTP/1.1 accepts, which it must not
    /// (RFC 9112, section 7.4).
    private static func namesChunked(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        let text = unsafe String(decoding: value, as: UTF8.self).lowercased()
        return text.split { ", \t;".contains($0) }.contains("chunked")
    }

    /// Whether the field is for framing, routing, authentication, response control or content format, which
    /// trailers may not have (RFC 9110, section 6.5.1). Digests of the content are the purpose of trailers,
    /// and allowed.
    static func isForbiddenInTrailers(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let bytes = name.baseAddress else { return false }
        return forbiddenInTrailers.contains { unsafe bytes.spells($0, count: name.count) }
    }

    private static let forbiddenInTrailers: [StaticString] = [
        "transfer-encoding", "content-length", "trailer", "te", "host", "connection", "keep-alive", "upgrade",
        "proxy-connection", "expect", "max-forwards", "authorization", "proxy-authorization",
        "proxy-authenticate", "www-authenticate", "authentication-info", "proxy-authentication-info",
        "cookie",
        "cookie2", "set-cookie", "set-cookie2", "content-type", "content-encoding", "content-range",
        "content-language", "content-location", "content-disposition", "range", "if-match", "if-none-match",
        "if-modified-since", "if-unmodified-since", "if-range", "cache-control", "pragma", "age", "date",
        "expires", "location", "retry-after", "vary", "warning",
    ]
}

extension HeaderBlock {
    /// Whether a field's name occurs in the other block, too.
    func sharesNames(with other: HeaderBlock) -> Bool {
        for index in 0..<counts.fields where unsafe other.hasField(named: name(at: index)) { return true }
        return false
    }

    /// Whether there is a field with this name, ignoring case.
    @inline(__always)
    func hasField(named name: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in 0..<counts.fields where unsafe places[index].nameCount == name.count {
            if unsafe self.name(at: index).equalsIgnoringCase(name) { return true }
        }
        return false
    }
}

extension UInt8 {
    /// Whether this is allowed in a host with a port: unreserved, sub-delims, `%`, `:`, `[` or `]`.
    @inline(__always)
    var isAuthorityCharacter: Bool {
        let half: UInt64 = self < 64 ? 0x2fff_7ff2_0000_0000 : 0x47ff_fffe_afff_fffe
        return self < 128 && half &>> UInt64(self & 63) & 1 == 1
    }
}
