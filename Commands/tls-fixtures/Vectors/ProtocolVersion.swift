internal import DirectJSON

/// A TLS version as the vectors write it. The client and the fixture servers have their own types.
enum ProtocolVersion: String, Choice, Comparable {
    case tls10 = "1.0"
    case tls11 = "1.1"
    case tls12 = "1.2"
    case tls13 = "1.3"

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    var openSSLName: String { self == .tls10 ? "TLSv1" : "TLSv\(rawValue)" }
}

/// A range is given as the oldest and the newest version.
extension ClosedRange: FromJSON where Bound == ProtocolVersion {
    init(_ value: JSONValue) throws(FieldError) {
        let ends = try StrictDecoder.decode([ProtocolVersion].self, from: value)
        guard ends.count == 2, ends[0] <= ends[1] else {
            throw value.wrong("the oldest and the newest version")
        }
        self = ends[0]...ends[1]
    }
}
