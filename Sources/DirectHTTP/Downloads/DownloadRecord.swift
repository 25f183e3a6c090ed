internal import DirectCore
internal import DirectTLS

/// The record beside a partial file: which version of which resource the file belongs to, and how many of its
/// bytes can be continued, with their digest, which tells the file from every other.
///
/// It is text, one value a line. The last line is the digest of those before it, so that a record that was
/// damaged in any byte is not used.
struct DownloadRecord: Equatable, Sendable {
    var representation: Representation
    /// The number of bytes of the partial file that count.
    var savedBytes: UInt64
    /// The SHA-256 digest of these bytes.
    var digest: [UInt8]

    /// The first line of every record. It tells the files of a download from those of other programs.
    static let title = "direct-http download 1"

    /// The place of the lines that few records have, one for a server without proof and one for parts from
    /// different URLs: before the empty one.
    private static let rareLines = 6
    private static let joinedLine = "joined yes"
    /// Of a version without a validator, which cannot be continued.
    private static let unknownVersion = "version unknown"

    /// The largest record that is read. A URL may be long.
    static let sizeLimit = 1 << 20

    /// The bytes of the file; `nil` if there is no memory for the digest.
    var bytes: [UInt8]? {
        let version =
            switch representation.validator {
            case .entityTag(let tag): "etag \(tag)"
            case .date(let date): "last-modified \(date)"
            case nil: Self.unknownVersion
            }
        let length = representation.length.map { "\($0)" } ?? "unknown"
        var lines = [
            Self.title, "url \(representation.url.text)", version, "length \(length)",
            "saved \(savedBytes)", "sha256 \(Hex.encode(digest))", "",
        ]
        if representation.isJoined { lines.insert(Self.joinedLine, at: Self.rareLines) }
        if let identity = representation.identity {
            lines.insert("server \(Hex.encode(Array(identity.utf8)))", at: Self.rareLines)
        }
        let text = Array(lines.joined(separator: "\n").utf8)
        guard let check = MessageDigest.sha256.digest(of: text) else { return nil }
        return text + Array("check \(Hex.encode(check))\n".utf8)
    }

    /// `nil` without a digest.
    init?(_ representation: Representation, savedBytes: UInt64, digest: [UInt8]) {
        guard digest.count == 32 else { return nil }
        self.representation = representation
        self.savedBytes = savedBytes
        self.digest = digest
    }

    /// Parses the bytes of a file; `nil` if they are not those of a record.
    init?(parsing bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var identity: String?
        if lines.count > 8, let value = Self.value("server", of: lines[Self.rareLines]) {
            guard let bytes = Hex.decode(value) else { return nil }
            identity = String(validating: bytes, as: UTF8.self)
            lines.remove(at: Self.rareLines)
        }
        let isJoined = lines.count > 8 && lines[Self.rareLines] == Self.joinedLine
        if isJoined { lines.remove(at: Self.rareLines) }
        guard lines.count == 8, lines[0] == Self.title, lines[7].isEmpty,
            let url = Self.value("url", of: lines[1]).flatMap({ try? HTTPURL(String($0)) }),
            case let validator = Self.validator(lines[2]),
            validator != nil || lines[2] == Self.unknownVersion,
            let length = Self.value("length", of: lines[3]),
            let saved = Self.value("saved", of: lines[4]).flatMap({ UInt64($0) }),
            let digest = Self.value("sha256", of: lines[5]).flatMap({ Hex.decode($0) }),
            length == "unknown" || UInt64(length) != nil
        else { return nil }
        let representation = Representation(
            url: url,
            identity: identity,
            validator: validator,
            length: UInt64(length),
            isJoined: isJoined
        )
        self.init(representation, savedBytes: saved, digest: digest)
        // One form only: the check and every spelling are right if the record is written as it was read.
        guard self.bytes == bytes, saved <= representation.length ?? .max else { return nil }
    }

    private static func validator(_ line: Substring) -> StrongValidator? {
        if let tag = value("etag", of: line) {
            return StrongValidator.isValid(String(tag)) ? .entityTag(String(tag)) : nil
        }
        guard let date = value("last-modified", of: line), HTTPDate.parse(String(date)) != nil else {
            return nil
        }
        return .date(String(date))
    }

    private static func value(_ name: String, of line: Substring) -> Substring? {
        line.hasPrefix(name + " ") ? line.dropFirst(name.count + 1) : nil
    }
}
