internal import CSimulation
internal import DirectCore
internal import Glibc

/// The functions of the seam. A failure is the negative `errno`.
extension SimulatedDisk {
    func open(_ path: String, creates: Bool, isExclusive: Bool, appends: Bool) -> Int {
        if let failure = failure(writing: creates) { return failure }
        let folder = path.hasSuffix("/") ? String(path.dropLast()) : path
        if folders.contains(folder) { return add(Descriptor(folder: folder)) }
        if files[path] != nil, isExclusive { return -Int(EEXIST) }
        if files[path] == nil {
            guard creates else { return -Int(ENOENT) }
            set(makeFile(), at: path)
        }
        return add(Descriptor(file: files[path], appends: appends))
    }

    private func add(_ open: Descriptor) -> Int {
        let free = lowestDescriptor()
        descriptors[free] = open
        return Int(free)
    }

    func close(_ descriptor: Int32) -> Int {
        guard let open = descriptors.removeValue(forKey: descriptor) else { return -Int(EBADF) }
        if open.file?.lock == descriptor { open.file?.lock = nil }
        return 0
    }

    /// - Parameter offset: -1 for the position of the descriptor.
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, offset: Int) -> Int {
        guard let open = descriptors[descriptor], let file = open.file else { return -Int(EBADF) }
        if let failure = failure(writing: false) { return failure }
        let start = offset < 0 ? open.position : offset
        let piece = file.bytes.dropFirst(start).prefix(min(shortened(buffer.count), isSlow ? 200 : .max))
        buffer.copyBytes(from: piece)
        if offset < 0 { descriptors[descriptor]?.position += piece.count }
        return piece.count
    }

    func write(_ descriptor: Int32, bytes: UnsafeRawBufferPointer, offset: Int) -> Int {
        guard let open = descriptors[descriptor], let file = open.file else { return -Int(EBADF) }
        if let failure = failure(writing: true) { return failure }
        let start = open.appends ? file.bytes.count : offset < 0 ? open.position : offset
        let taken = fitting(shortened(bytes.count), in: file, at: start)
        guard taken >= 0 else { return taken }
        if start > file.bytes.count {
            file.bytes += [UInt8](repeating: 0, count: start - file.bytes.count)
        }
        let end = min(file.bytes.count, start + taken)
        file.bytes.replaceSubrange(start..<end, with: UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
        file.time = UnixTime.now.seconds
        if offset < 0 { descriptors[descriptor]?.position = start + taken }
        if open.appends, let path = files.first(where: { $0.value === file })?.key {
            appends(path, file.bytes)
        }
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
        if folder(descriptor) != nil {
            if let failure = failure(writing: true) { return failure }
            settleNames()
            return 0
        }
        guard let file = descriptors[descriptor]?.file else { return -Int(EBADF) }
        if let failure = failure(writing: true) { return failure }
        file.settled = file.bytes
        settleNames()
        return 0
    }

    func touch(_ descriptor: Int32) -> Int {
        guard let file = descriptors[descriptor]?.file else { return -Int(EBADF) }
        if let failure = failure(writing: true) { return failure }
        file.time = UnixTime.now.seconds
        return 0
    }

    /// A lock ends with its descriptor (flock(2)).
    func lock(_ descriptor: Int32, locks: Bool) -> Int {
        guard let file = descriptors[descriptor]?.file else { return -Int(EBADF) }
        if let owner = file.lock, owner != descriptor { return locks ? -Int(EWOULDBLOCK) : 0 }
        file.lock = locks ? descriptor : nil
        return 0
    }

    func rename(_ path: String, to other: String) -> Int {
        guard let file = files[path] else { return -Int(ENOENT) }
        if let failure = failure(writing: true) { return failure }
        move(file, from: path, to: other)
        renames(other, file.bytes)
        return 0
    }

    func remove(_ path: String) -> Int {
        if files[path] == nil { return -Int(ENOENT) }
        if let failure = failure(writing: false) { return failure }
        set(nil, at: path)
        return 0
    }

    /// Returns what is known of a file or a folder.
    func find(_ path: String) -> sim_facts? {
        if folders.contains(path) { return sim_facts(number: 1, size: 0, time: 0, is_folder: 1) }
        return files[path].map(facts)
    }

    func find(_ descriptor: Int32) -> sim_facts? {
        guard let open = descriptors[descriptor] else { return nil }
        return open.folder.flatMap(find) ?? open.file.map(facts)
    }

    private func facts(of file: File) -> sim_facts {
        sim_facts(number: Int64(file.number), size: Int64(file.bytes.count), time: file.time, is_folder: 0)
    }

    // MARK: Folders

    func makeFolder(_ path: String) -> Int {
        if folders.contains(path) { return -Int(EEXIST) }
        if let failure = failure(writing: true) { return failure }
        folders.insert(path)
        return 0
    }

    /// Returns the path of an open folder.
    func folder(_ descriptor: Int32) -> String? { descriptors[descriptor]?.folder }

    /// Finds the name of a file of a folder by its place; `nil` behind the last one.
    func list(_ descriptor: Int32, place: Int, name: inout String?) -> Int {
        guard let folder = folder(descriptor) else { return -Int(ENOTDIR) }
        if let failure = failure(writing: false) { return failure }
        let names = names.filter { $0.hasPrefix(folder + "/") }
        if names.indices.contains(place) { name = String(names[place].dropFirst(folder.utf8.count + 1)) }
        return 0
    }
}
