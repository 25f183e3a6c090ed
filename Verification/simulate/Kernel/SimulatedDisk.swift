internal import CSimulation
internal import DirectCore
internal import Glibc

/// The files of a world: what a program has written, what the disk is known to keep of it, and what fails.
final class SimulatedDisk {
    /// A file, whatever it is called.
    final class File {
        let number: Int
        var bytes: [UInt8] = []
        /// The bytes that are there after any power failure.
        var settled: [UInt8] = []
        /// The descriptor that has locked it.
        var lock: Int32?
        /// When it was written or touched.
        var time = UnixTime.now.seconds

        init(number: Int) {
            self.number = number
        }
    }

    /// What is open: a file, or a folder.
    struct Descriptor {
        var file: File?
        var folder: String?
        var position = 0
        /// Whether each write goes to the end, wherever the position is (write(2), `O_APPEND`).
        var appends = false
    }

    /// Names that have got a file, or lost it, at once.
    private struct Change {
        var files: [String: File?]
    }

    private(set) var files: [String: File] = [:]
    /// The names that are there after any power failure, and the changes since. As with a journal it leaves
    /// the changes up to some moment.
    private var settledFiles: [String: File] = [:]
    private var changes: [Change] = []
    /// The root is there from the start.
    var folders: Set<String> = ["/simulated"]
    var descriptors: [Int32: Descriptor] = [:]
    private var count = 0
    let plan: DiskPlan
    /// Whether a read brings no more than some bytes.
    var isSlow = false
    var dice: Dice
    /// Sees a file that gets another name: the new name, and the bytes.
    var renames: (String, [UInt8]) -> Void = { _, _ in }
    /// Sees a file that was appended to: its name, and the bytes.
    var appends: (String, [UInt8]) -> Void = { _, _ in }
    /// Counts what has failed.
    var counts: (String) -> Void = { _ in }
    /// Returns the number of what is opened next.
    var lowestDescriptor: () -> Int32 = { 0 }
    /// Runs before each call: a power failure may come between any two.
    var beforeCall: () -> Void = {}

    init(_ plan: DiskPlan, dice: Dice) {
        self.plan = plan
        self.dice = dice
    }

    /// The descriptors that the client has not closed.
    var openCount: Int { descriptors.count }

    /// The names of all files.
    var names: [String] { files.keys.sorted() }

    /// The bytes of a file; `nil` if there is none.
    func bytes(of path: String) -> [UInt8]? { files[path]?.bytes }

    /// Releases everything at the end of a world.
    func dissolve() {
        (files, settledFiles, changes, descriptors) = ([:], [:], [], [:])
        (renames, appends) = ({ _, _ in }, { _, _ in })
        (counts, beforeCall, lowestDescriptor) = ({ _ in }, {}, { 0 })
    }

    // MARK: Names

    /// Gives a file a name, or takes the file from it.
    func set(_ file: File?, at path: String) {
        files[path] = file
        changes.append(Change(files: [path: file]))
    }

    /// Gives a file another name, in one step.
    func move(_ file: File, from path: String, to other: String) {
        files[path] = nil
        files[other] = file
        changes.append(Change(files: [path: nil, other: file]))
    }

    /// Makes the names as they are now certain.
    func settleNames() {
        for change in changes { apply(change, to: &settledFiles) }
        changes = []
    }

    private func apply(_ change: Change, to names: inout [String: File]) {
        for (path, file) in change.files { names[path] = file }
    }

    func makeFile() -> File {
        count += 1
        return File(number: count)
    }

    /// Lets another process replace a file by one with the same bytes, as one does that saves what it has
    /// read: what was open or locked is no longer what has the name (rename(2)).
    func replaceByOther(_ dice: inout Dice) {
        let names = names.filter { !$0.contains(".direct-http") }
        guard !names.isEmpty else { return }
        let path = dice.one(of: names)
        guard let old = files[path] else { return }
        counts("fault: file replaced by another process")
        let file = makeFile()
        (file.bytes, file.settled, file.time) = (old.bytes, old.bytes, old.time)
        set(file, at: path)
    }

    // MARK: Power failures

    /// Copies what a power failure would leave now to other names, as a program finds it that starts
    /// afterwards.
    ///
    /// Names are those of some moment since they were last made certain. Bytes that the disk was not told to
    /// keep may be there, be zero, or be missing.
    func copyAfterPowerFailure(from prefix: String, to other: String) {
        var remaining = settledFiles
        if !changes.isEmpty {
            for change in changes.prefix(dice.number(in: 0...changes.count)) {
                apply(change, to: &remaining)
            }
        }
        for path in remaining.keys.sorted() where path.hasPrefix(prefix) {
            guard let file = remaining[path] else { continue }
            // A file keeps its inode.
            let copy = File(number: file.number)
            copy.bytes = remains(of: file)
            copy.settled = copy.bytes
            copy.time = file.time
            files[other + path.dropFirst(prefix.count)] = copy
            settledFiles[other + path.dropFirst(prefix.count)] = copy
        }
        for path in folders where path.hasPrefix(prefix) {
            folders.insert(other + path.dropFirst(prefix.count))
        }
    }

    private func remains(of file: File) -> [UInt8] {
        if file.bytes == file.settled || dice.chance(20) { return file.settled }
        let certain = zip(file.bytes, file.settled).prefix { $0 == $1 }.count
        // The size may be known before the bytes are there.
        let isLong = dice.chance(50)
        let size = isLong ? file.bytes.count : dice.number(in: certain...file.bytes.count)
        var bytes = Array(file.bytes.prefix(size))
        for start in stride(from: certain, to: bytes.count, by: 4096) where dice.chance(30) {
            let end = min(start + 4096, bytes.count)
            bytes.replaceSubrange(start..<end, with: repeatElement(0, count: end - start))
        }
        return bytes
    }

    // MARK: Failures

    /// Returns the error of a call that fails because the plan says so.
    func failure(writing: Bool) -> Int? {
        guard dice.below(1000) < plan.failures else { return nil }
        let code = writing ? dice.one(of: [ENOSPC, EIO]) : EIO
        counts("fault: disk \(code == ENOSPC ? "full" : "failed")")
        return -Int(code)
    }

    /// Returns how many of these bytes fit; a negative error if none do.
    func fitting(_ count: Int, in file: File, at start: Int) -> Int {
        guard let capacity = plan.capacity, count > 0 else { return count }
        let path = files.first { $0.value === file }?.key ?? ""
        let machine = Self.machine(of: path)
        let others = files.reduce(0) { sum, entry in
            entry.value === file || Self.machine(of: entry.key) != machine
                ? sum : sum + entry.value.bytes.count
        }
        let taken = min(count, max(0, capacity - others - start))
        if taken == 0 {
            counts("fault: disk full")
            return -Int(ENOSPC)
        }
        return taken
    }

    /// What is before the first hyphen of a name. A copy after a power failure is on a disk of its own.
    private static func machine(of path: String) -> Substring {
        path.contains("-") ? path.prefix { $0 != "-" } : ""
    }
}

/// What is wrong with the disk of a world.
struct DiskPlan: Codable, Equatable {
    /// Of a thousand calls: these fail.
    var failures = 0
    /// Of a hundred reads and writes: these move fewer bytes than asked for.
    var shortCalls = 0
    /// The number of bytes that fit on it.
    var capacity: Int?
}
