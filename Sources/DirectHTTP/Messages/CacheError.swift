internal import DirectCore
public import DirectIO

/// A reason why the folder of a cache cannot be used, or why a file in it was skipped.
@nonexhaustive
public enum CacheError: Error, Hashable, Sendable {
    /// The folder cannot be created or opened, belongs to another user, or is writable for others.
    case folder(SystemError)
    /// A file cannot be read or written.
    case file(SystemError)
    /// A file of the cache was incomplete, or did not match its name. It has been removed.
    case damaged(file: String)
    /// A file in the folder does not belong to the cache. It was left alone.
    case foreign(file: String)
}

extension CacheError: CustomStringConvertible {
    /// A description of the error.
    public var description: String {
        switch self {
        case .folder(let error): "cache folder: \(error)"
        case .file(let error): "cache file: \(error)"
        case .damaged(let file): "\(file) was damaged and has been removed"
        case .foreign(let file): "\(file) is not a file of the cache"
        }
    }
}
