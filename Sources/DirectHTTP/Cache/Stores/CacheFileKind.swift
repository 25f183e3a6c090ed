internal import DirectIO

/// The kind of a file in the folder, told by its name.
enum CacheFileKind: Equatable {
    case response
    case index
    case draft
    case marks
    /// The key of the folder's digests.
    case key
    /// A file of marks of an older version.
    case outdated
    /// A file that does not belong to the cache.
    case foreign

    init(_ name: String) {
        if name == Self.keyName {
            self = .key
            return
        }
        if name == CacheMarks.fileName || StateFolder.isDraft(name) {
            self = name == CacheMarks.fileName ? .marks : .draft
            return
        }
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let stems = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(\.utf8)
        let areDigits = stems.allSatisfy { $0.allSatisfy(Self.isDigit) }
        let shape = (stems.map(\.count), parts.count > 1 ? String(parts[1]) : "")
        switch shape {
        case ([32], "r") where areDigits, ([32, 16], "r") where areDigits: self = .response
        case ([32], "v") where areDigits: self = .index
        case ([16], "tmp") where areDigits: self = .draft
        case ([2], "m") where areDigits: self = .outdated
        default: self = .foreign
        }
    }

    static let keyName = "key"

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
    }
}
