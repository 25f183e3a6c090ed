internal import CSimulation
internal import Glibc

/// The files of a world: what a program has written, what the disk is known to keep of it, and what fails.
final class SimulatedDisk {
    /// A file, whatever it is called.
    private final class File {
        let number: Int
        var bytes: [UInt8] = []
        /// The bytes that a power failure leaves for certain.
        var settled: [UInt8] = []
        /// The descriptor that has locked it.
        var lock: Int32?

        init(number: Int) {
            self.number = number
        }
    }

    private struct Descriptor {
        let file: File
        var position = 0
    }

    private var files: [String: File] = [:]
    private var descriptors: [Int32: Descriptor] = [:]
    private var count = 0
    private let plan: DiskPlan
    private var dice: Dice
    /// Sees a file that gets another name: the new name, and the bytes.
    var renames: (String, [UInt8]) -> Void = { _, _ in }
    /// Counts what has failed.
    var counts: (String) -> Void = { _ in }

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

    /// Copies what a power failure would leave now to other names, as a program finds it that starts afterwards.
    ///
    /// Bytes that the disk was not told to keep may be there, be zero, or be missing.
    func copyAfterPowerFailure(from prefix: String, to other: String) {
        for path in names where path.hasPrefix(prefix) {
            guard let file = files[path] else { continue }
            let copy = makeFile()
            copy.bytes = remains(of: file)
            copy.settled = copy.bytes
            files[other + path.dropFirst(prefix.count)] = copy
        }
    }

    private func remains(of file: File) -> [UInt8] {
        if file.bytes == file.settled || dice.chance(20) { return file.settled }
        let certain = zip(file.bytes, file.settled).prefix { $0 == $1 }.count
        var bytes = Array(file.bytes.prefix(dice.number(in: certain...file.bytes.count)))
        for start in stride(from: certain, to: bytes.count, by: 4096) where dice.chance(30) {
            let end = min(start + 4096, bytes.count)
            bytes.replaceSubrange(start..<end, with: repeatElement(0, count: end - start))
        }
        return bytes
    }

    private func makeFile() -> File {
        count += 1
        return File(number: count)
    }

    /// Returns the error of a call that fails because the plan says so.
    private func failure(writing: Bool) -> Int? {
        guard dice.below(1000) < plan.failures else { return nil }
        let code = writing ? dice.one(of: [ENOSPC, EIO]) : EIO
        counts("fault: disk \(code == ENOSPC ? "full" : "failed")")
        return -Int(code)
    }
}

/// The functions of the seam. A failure is the negative `errno`.
extension SimulatedDisk {
    func open(_ path: String, creates: Bool, isExclusive: Bool) -> Int {
        if let failure = failure(writing: creates) { return failure }
        if files[path] != nil, isExclusive { return -Int(EEXIST) }
        if files[path] == nil {
            guard creates else { return -Int(ENOENT) }
            files[path] = makeFile()
        }
        guard let file = files[path] else { return -Int(ENOENT) }
        // Descriptors are used again, as the system does.
        let descriptor = (0...).lazy.map { sim_first_file() + Int32($0) }.first {
            self.descriptors[$0] == nil
        }
        guard let descriptor else { return -Int(EMFILE) }
        descriptors[descriptor] = Descriptor(file: file)
        return Int(descriptor)
    }

    func close(_ descriptor: Int32) -> Int {
        guard let open = descriptors.removeValue(forKey: descriptor) else { return -Int(EBADF) }
        if open.file.lock == descriptor { open.file.lock = nil }
        return 0
    }

    /// - Parameter offset: -1 for the position of the descriptor.
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, offset: Int) -> Int {
        guard let open = descriptors[descriptor] else { return -Int(EBADF) }
        if let failure = failure(writing: false) { return failure }
        let start = offset < 0 ? open.position : offset
        let piece = open.file.bytes.dropFirst(start).prefix(shortened(buffer.count))
        buffer.copyBytes(from: piece)
        if offset < 0 { descriptors[descriptor]?.position += piece.count }
        return piece.count
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, offset: Int) -> Int {
        guard let open = descriptors[descriptor] else { return -Int(EBADF) }
        if let failure = failure(writing: true) { return failure }
        let start = offset < 0 ? open.position : offset
        let file = open.file
        var taken = shortened(bytes.count)
        if let capacity = plan.capacity {
            let others = files.values.reduce(0) { $0 + $1.bytes.count } - file.bytes.count
            taken = min(taken, max(0, capacity - others - start))
            if taken == 0, !bytes.isEmpty {
                counts("fault: disk full")
                return -Int(ENOSPC)
            }
        }
        if start > file.bytes.count {
            file.bytes += [UInt8](repeating: 0, count: start - file.bytes.count)
        }
        let end = min(file.bytes.count, start + taken)
        file.bytes.replaceSubrange(start..<end, with: UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
        if offset < 0 { descriptors[descriptor]?.position += taken }
        return taken
    }

    private func shortened(_ count: Int) -> Int {
        guard count > 1, dice.chance(plan.shortCalls) else { return count }
        counts("fault: short read or write of a file")
        return 1 + dice.below(count)
    }

    func truncate(_ descriptor: Int32, to size: Int) -> Int {
        guard let file = descriptors[descriptor]?.file else { return -Int(EBADF) }
        if let failure = failure(writing: false) { return failure }
        file.bytes =
            Array(file.bytes.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - file.bytes.count))
        return 0
    }

    func settle(_ descriptor: Int32) -> Int {
        guard let file = descriptors[descriptor]?.file else { return -Int(EBADF) }
        if let failure = failure(writing: true) { return failure }
        file.settled = file.bytes
        return 0
    }

    func lock(_ descriptor: Int32, locks: Bool) -> Int {
        guard let file = descriptors[descriptor]?.file else { return -Int(EBADF) }
        if let owner = file.lock, owner != descriptor { return locks ? -Int(EWOULDBLOCK) : 0 }
        file.lock = locks ? descriptor : nil
        return 0
    }

    func rename(_ path: String, to other: String) -> Int {
        guard let file = files[path] else { return -Int(ENOENT) }
        if let failure = failure(writing: true) { return failure }
        files[path] = nil
        files[other] = file
        renames(other, file.bytes)
        return 0
    }

    func remove(_ path: String) -> Int {
        if files[path] == nil { return -Int(ENOENT) }
        if let failure = failure(writing: false) { return failure }
        files[path] = nil
        return 0
    }

    /// Returns the number and the size of a file.
    func find(_ path: String) -> (number: Int, size: Int)? {
        files[path].map { ($0.number, $0.bytes.count) }
    }

    func find(_ descriptor: Int32) -> (number: Int, size: Int)? {
        descriptors[descriptor].map { ($0.file.number, $0.file.bytes.count) }
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
