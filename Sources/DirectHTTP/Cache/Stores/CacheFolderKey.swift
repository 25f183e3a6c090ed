internal import DirectCore
internal import DirectIO

/// The key of the digests in the names of a cache's files.
extension StateFolder {
    /// Returns the key of a cache's folder, and whether this call has made it.
    ///
    /// If two processes make one at the same time, one of the two may count from the next opening on. The
    /// other process finds only what it has stored itself until then.
    func digestKey() throws(SystemError) -> (key: [UInt8], isNew: Bool) {
        if let known = try storedKey() { return (known, false) }
        let draft = try draft(CacheFileKind.keyName)
        try draft.write(Self.newDigestKey(), at: 0)
        try draft.commit()
        guard let key = try storedKey() else { throw SystemError("read", code: 0) }
        return (key, true)
    }

    private func storedKey() throws(SystemError) -> [UInt8]? {
        let known = try file(CacheFileKind.keyName)?.bytes(at: 0, count: Self.keySize + 1)
        return known?.count == Self.keySize ? known : nil
    }

    static func newDigestKey() -> [UInt8] {
        var bytes = StoredBytesWriter()
        for _ in 0..<keySize / 8 { bytes.add(SystemRandom.word()) }
        return bytes.bytes
    }

    private static let keySize = 32
}
