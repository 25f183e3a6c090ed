internal import DirectJSON

/// A TLS version as the vectors write it. The client and the fixture servers have their own types.
enum ProtocolVersion: String, CaseIterable, Comparable, Sendable {
    case tls10 = "1.0"
    case tls11 = "1.1"
    case tls12 = "1.2"
    case tls13 = "1.3"

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    var openSSLName: String { self == .tls10 ? "TLSv1" : "TLSv\(rawValue)" }
}

extension Read {
    static func version(_ value: JSONValue) throws(FieldError) -> ProtocolVersion { try choice(value) }

    /// Reads a range of versions, given as the oldest and the newest.
    static func versions(_ value: JSONValue) throws(FieldError) -> ClosedRange<ProtocolVersion> {
        let ends = try list(of: version)(value)
        guard ends.count == 2, ends[0] <= ends[1] else {
            throw value.wrong("the oldest and the newest version")
        }
        return ends[0]...ends[1]
    }
}
