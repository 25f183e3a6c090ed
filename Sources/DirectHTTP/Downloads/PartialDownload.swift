internal import DirectCore
internal import DirectIO
internal import DirectTLS
internal import Synchronization

/// The partial file of a download, `PATH.part`, and the record beside it, `PATH.part.info`.
///
/// The file counts as far as the record says. The record has the digest of the bytes that it counts, and is
/// written when they are on the disk; only of the first few, which tell whose file it is, before they are in
/// the file. So whatever a crash leaves of the two files, the bytes that are continued are the right ones,
/// and a file whose bytes have another digest is not a download's, and stays as it is.
///
/// A file without a strong validator cannot be continued: its record counts its first bytes only, and both
/// are removed when the download ends, or by the next one. The same holds for a file of another name, which
/// is used if another program or user may have made what is under these two. Every method blocks, and may be
/// called from any thread. After ``close()`` they do nothing.
final class PartialDownload: Sendable {
    /// What is on the disk.
    private struct Disk {
        var file: PartialFile
        /// `nil` before the first response.
        var representation: Representation?
        /// The number of bytes written.
        var size: UInt64 = 0
        /// The hash of these bytes.
        var hash = RunningSHA256()
        /// The number of them that the record counts and the disk keeps.
        var savedBytes: UInt64 = 0
        var isOpen = true
    }

    /// Locked while the disk works: a call whose caller has given up may still run when the next one begins.
    private let disk: Locked<Disk>
    /// Whether the download has ended, so that reading a large file need not go on.
    private let isAbandoned = Atomic(false)

    /// Opens the partial file for this path. Call ``load()`` next.
    ///
    /// Returns `nil` if another download uses it.
    static func open(_ target: String, mode: UInt16) throws(SystemError) -> PartialDownload? {
        try PartialFile.open(target, mode: mode, of: .downloads, stem: stem).map(PartialDownload.init)
    }

    private init(_ file: PartialFile) {
        disk = Locked(Disk(file: file))
    }

    /// The beginning of the names of the two files: the name of the target, or if they would be longer than
    /// file systems allow (255 bytes), its digest. Two targets that share the files share only a lock: the
    /// record says whose they are.
    private static func stem(of name: String) -> String {
        if name.utf8.count <= longestName { return name }
        return MessageDigest.sha256.digest(of: Array(name.utf8)).map(Hex.encode) ?? "long-name"
    }

    private static let longestName = 255 - ".part.info".utf8.count

    /// The version that the file belongs to, and the number of bytes that the file has of it.
    var position: (representation: Representation?, size: UInt64) {
        disk.withLock { ($0.representation, $0.size) }
    }

    /// Empties the file, for this version.
    func begin(_ representation: Representation) throws(SystemError) {
        try change { disk throws(SystemError) in
            try disk.file.truncate(to: 0)
            // A record of other bytes would not prove these.
            if disk.size + disk.savedBytes > 0 { try disk.file.settle() }
            disk.savedBytes = 0
            disk.size = 0
            disk.hash = RunningSHA256()
            disk.representation = representation
        }
    }

    /// Notes what a further response says of the same version.
    func update(_ representation: Representation) throws(SystemError) {
        try change { $0.representation = representation }
    }

    /// Appends these bytes. From time to time the disk is made to keep what it has, and the record counts it.
    ///
    /// - Parameter start: Where the file must end, or else nothing is appended; `nil` for anywhere.
    func append(_ bytes: [UInt8], at start: UInt64? = nil) throws(SystemError) {
        try change { disk throws(SystemError) in
            guard disk.size == start ?? disk.size else { return }
            if disk.size == 0 { try announce(Array(bytes.prefix(4096)), in: disk) }
            try disk.file.write(bytes, at: disk.size)
            disk.size += UInt64(bytes.count)
            disk.hash.add(bytes)
            if disk.size >= disk.savedBytes + Self.mostUnsaved(disk.savedBytes) { try save(&disk) }
        }
    }

    /// The SHA-256 digest of the file; `nil` if there was no memory for it.
    var digest: [UInt8]? {
        disk.withLock { disk in
            let digest = disk.hash.current()
            return digest.isEmpty ? nil : digest
        }
    }

    /// Makes the disk keep all bytes of the file.
    func settle() throws(SystemError) {
        try change { disk throws(SystemError) in try disk.file.settle() }
    }

    /// Gives the file the name of its target. Call ``settle()`` first.
    func commit() throws(SystemError) {
        try change { disk throws(SystemError) in
            try disk.file.commit()
            disk.isOpen = false
            // The file is in its place. A record without a partial file is of no use to any later download.
            try? disk.file.removeRecord()
            disk.file.close()
        }
    }

    /// Ends the use of the file. What can be continued is saved, everything else is removed.
    func close(discarding isUseless: Bool = false) {
        isAbandoned.store(true, ordering: .relaxed)
        disk.withLock { disk in
            guard disk.isOpen else { return }
            disk.isOpen = false
            defer { disk.file.close() }
            // It may be another program's.
            if disk.file.isFound { return }
            // A failure here leaves what was saved before.
            let canContinue = disk.file.canBeContinued && disk.representation?.validator != nil
            if isUseless || !canContinue || disk.size == 0 {
                try? disk.file.remove()
            } else {
                try? save(&disk)
            }
        }
    }

    private func change(_ body: (inout Disk) throws(SystemError) -> Void) throws(SystemError) {
        try disk.withLock { disk throws(SystemError) in
            guard disk.isOpen else { return }
            try body(&disk)
        }
    }

    /// Writes the first bytes, after a record that counts them. A kill leaves all of so few, or none.
    private func announce(_ bytes: [UInt8], in disk: Disk) throws(SystemError) {
        try saveRecord(of: bytes.count, digest: MessageDigest.sha256.digest(of: bytes) ?? [], in: disk)
        try disk.file.write(bytes, at: 0)
    }

    /// Makes the disk keep the bytes, and then the record count them.
    private func save(_ disk: inout Disk) throws(SystemError) {
        guard disk.file.canBeContinued, disk.representation?.validator != nil, disk.size > disk.savedBytes
        else { return }
        try disk.file.settle()
        try saveRecord(of: Int(disk.size), digest: disk.hash.current(), in: disk)
        disk.savedBytes = disk.size
    }

    private func saveRecord(of count: Int, digest: [UInt8], in disk: Disk) throws(SystemError) {
        guard disk.file.canBeContinued, let representation = disk.representation,
            let record = DownloadRecord(representation, savedBytes: UInt64(count), digest: digest)?.bytes
        else { return }
        try disk.file.saveRecord(record)
    }

    /// The number of bytes that a crash may cost: an eighth of the file, within bounds.
    private static func mostUnsaved(_ saved: UInt64) -> UInt64 {
        min(max(saved / 8, 1 << 20), 64 << 20)
    }
}

/// Reading what an earlier download has left.
extension PartialDownload {
    /// Reads what an earlier download has left. A large file takes its time.
    func load() throws(SystemError) {
        try change { disk throws(SystemError) in
            guard disk.file.isFound else { return }
            // A record that cannot be read is one that does not exist.
            guard let bytes = try? disk.file.readRecord(limit: DownloadRecord.sizeLimit),
                let record = DownloadRecord(parsing: bytes),
                let (hash, size) = try hash(of: disk.file, as: record), try disk.file.adopt()
            else { return disk.file = try disk.file.another() }
            // After a crash, bytes that the record does not count may be anything.
            try disk.file.truncate(to: record.savedBytes)
            disk.hash = hash
            disk.size = size
            disk.savedBytes = record.savedBytes
            disk.representation = record.representation
        }
    }

    /// Returns the hash of the bytes that can be continued, and their number; `nil` if the record does not
    /// fit the file.
    ///
    /// Of a file that is complete the last byte is left out. To ask for it shows whether the server still has
    /// the same version, and a range without any byte cannot be asked for.
    private func hash(of file: PartialFile, as record: DownloadRecord) throws(SystemError) -> (
        RunningSHA256, UInt64
    )? {
        let isComplete = record.savedBytes == record.representation.length
        let size = isComplete ? record.savedBytes - min(1, record.savedBytes) : record.savedBytes
        let hash = RunningSHA256()
        guard try add(file, from: 0, to: size, hash: hash) else { return nil }
        let whole = hash.copy()
        guard try add(file, from: size, to: record.savedBytes, hash: whole), whole.finish() == record.digest
        else {
            return nil
        }
        return (hash, size)
    }

    /// Adds bytes of the file to a hash; returns false if the file is too short.
    private func add(
        _ file: PartialFile,
        from start: UInt64,
        to end: UInt64,
        hash: RunningSHA256
    ) throws(SystemError) -> Bool {
        var position = start
        while position < end {
            if isAbandoned.load(ordering: .relaxed) { return false }
            let bytes = try file.read(at: position, count: Int(min(end - position, 1 << 20)))
            guard !bytes.isEmpty else { return false }
            hash.add(bytes)
            position += UInt64(bytes.count)
        }
        return true
    }
}

extension PartialFile.Owner {
    /// Downloads of this user.
    static let downloads = PartialFile.Owner(title: Array((DownloadRecord.title + "\n").utf8))
}
