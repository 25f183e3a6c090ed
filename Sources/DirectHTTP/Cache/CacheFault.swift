public import DirectIO

/// Why a cache's folder cannot be used, or something in it was passed over.
@nonexhaustive
public enum CacheFault: Error, Hashable, Sendable {
    /// The folder cannot be made or opened, belongs to somebody else, or others may write to it.
    case folder(SystemError)
    /// A file cannot be read or written.
    case file(SystemError)
    /// A file of the cache's was not whole, or not what its name says; it was removed.
    case damaged(file: String)
    /// Something lies in the folder that is not the cache's; it was left alone.
    case foreign(file: String)
}

extension CacheFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .folder(let error): "the folder of the cache: \(error)"
        case .file(let error): "a file of the cache: \(error)"
        case .damaged(let file): "\(file) was damaged, and removed"
        case .foreign(let file): "\(file) is no file of the cache"
        }
    }
}
