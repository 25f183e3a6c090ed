public import DirectCore
public import DirectHTTP1
internal import DirectIO

/// The expectations of a download, and its destination.
public struct DownloadOptions: Sendable {
    /// The permissions of a new file, from which the process's umask is subtracted. A file that is replaced
    /// passes its owner and its permissions on, as far as these and the system allow. Until it is complete
    /// the file is its owner's only.
    public var mode: UInt16 = 0o666
    /// The length that the content must have; `nil` for any. No more bytes than that are written.
    public var length: UInt64?
    /// The SHA-256 digest (32 bytes) that the content must have; `nil` for any.
    public var sha256: [UInt8]?
    /// The largest number of bytes to accept; `nil` for any.
    public var maximumSize: UInt64?
    /// The number of times the download may begin anew because the servers disagree on what they have.
    public var maximumRestarts = 3

    /// Makes options with the default values.
    public init() {}

    /// Makes options that expect this digest or this length.
    public init(sha256: [UInt8]? = nil, length: UInt64? = nil) {
        self.sha256 = sha256
        self.length = length
    }
}

/// A download that is complete.
public struct DownloadResult: Sendable {
    /// The URL of the content, after redirects; without user and password.
    public let url: HTTPURL
    /// The header fields of the last response, which may be one with a part (206).
    public let headers: HTTPHeaders
    /// The connection and the times of the last request; `nil` if an interceptor or a mock answered.
    public let transaction: HTTPTransaction?
    /// The number of bytes in the file.
    public let size: UInt64
    /// The SHA-256 digest of the file.
    public let sha256: [UInt8]
    /// The number of bytes that an earlier, interrupted download had left in the partial file.
    public let resumedBytes: UInt64
    /// The number of times the download began anew.
    public let restarts: Int
    /// The earlier requests: redirects, and those that failed or broke off, after which the download went on.
    public let history: [Hop]
}
