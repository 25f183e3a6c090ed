internal import DirectIO

/// The kind of a file in the folder, told by its name: one that no other program gives a file, since the user
/// may keep others there.
enum CacheFileKind: Equatable {
    case response
    case index
    case draft
    case marks
    /// The key of the folder's digests.
    case key
    /// A file that does not belong to the cache.
    case foreign

    init(_ name: String) {
        switch name {
        case Self.keyName: self = .key
        case CacheMarks.fileName: self = .marks
        case _ where StateFolder.isDraft(name): self = .draft
        default: self.init(ofEntry: name)
        }
    }

    private init(ofEntry name: String) {
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let stems = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(\.utf8)
        let areDigits = stems.allSatisfy { $0.allSatisfy(Self.isDigit) }
        let shape = (stems.map(\.count), parts.count > 1 ? String(parts[1]) : "")
        switch shape {
        case ([32], "r") where areDigits, ([32, 16], "r") where areDigits: self = .response
        case ([32], "v") where areDigits: self = .index
        default: self = .foreign
        }
    }

    static let keyName = "direct-http-cache-key"

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
    }
}
