internal import CSimulation
internal import DirectCore
internal import Glibc

extension Kernel {
    /// Makes the current kernel answer the functions of the C library.
    static func install() {
        var system = sim_system()
        system.open_socket = { $0 == 0 ? Kernel.current.openSocket() : Kernel.current.openDatagramSocket() }
        system.connect = { descriptor, address, length, port in
            let bytes = UnsafeBufferPointer(start: address, count: Int(length))
            guard let address = IPAddress(bytes: Array(bytes)) else { return -EINVAL }
            return Kernel.current.connect(descriptor, to: address, port: Int(port))
        }
        system.connect_local = { descriptor, path in
            guard let path else { return -EFAULT }
            return Kernel.current.connect(descriptor, toSocket: String(cString: path))
        }
        system.bind = { descriptor, address, length in
            let address = IPAddress(bytes: Array(UnsafeBufferPointer(start: address, count: Int(length))))
            guard let connection = Kernel.current.connections[descriptor] else {
                return Kernel.current.misused("bind", descriptor)
            }
            connection.localAddress = address
            return 0
        }
        system.listen = { Kernel.current.listen($0) }
        system.accept = { Kernel.current.acceptConnection(on: $0) }
        system.port = { descriptor in Int32(Kernel.current.listeners[descriptor]?.port ?? 0) }
        system.count_on_the_way = { Kernel.current.countOnTheWay($0) }
        system.receive = { descriptor, buffer, count, peeks in
            let buffer = UnsafeMutableRawBufferPointer(start: buffer, count: count)
            return Kernel.current.receive(on: descriptor, into: buffer, peeks: peeks != 0)
        }
        system.send = { descriptor, bytes, count in
            Kernel.current.send(on: descriptor, UnsafeRawBufferPointer(start: bytes, count: count))
        }
        system.set_option = { Kernel.current.setOption($0, mark: Int($1)) }
        system.shut_down = { Kernel.current.shutDown($0) }
        system.close = { Kernel.current.close($0) }
        system.take_error = { Kernel.current.takeError($0) }
        system.is_connected = { Kernel.current.isConnected($0) }
        system.watch = { Kernel.current.watch($0, token: $1) }
        system.unwatch = { Kernel.current.watch($0, token: nil) }
        system.wait = { buffer, capacity, milliseconds in
            guard let buffer else { return -EFAULT }
            return Kernel.current.wait(buffer, capacity: Int(capacity), milliseconds: milliseconds)
        }
        system.clock_shift = { Int64(Kernel.current.clockShift) }
        system.now = { Kernel.current.now }
        system.random = { Kernel.current.randomWord() }
        system.look_up_time = { Kernel.current.lookUpTime($1) }
        system.look_up = { name, family, buffer, capacity in
            guard let name, let buffer else { return EAI_FAIL }
            let all = Kernel.current.lookUp(String(cString: name)).filter {
                family == AF_UNSPEC || family == ($0.family == .v4 ? AF_INET : AF_INET6)
            }
            let addresses = all.filter { !Kernel.current.lacksAnswer(for: $0.family) }.prefix(Int(capacity))
            guard !addresses.isEmpty else { return all.isEmpty ? EAI_NONAME : EAI_AGAIN }
            for (place, address) in addresses.enumerated() {
                let bytes = address.bytes
                let whole = bytes.count == 16 ? bytes : [UInt8](repeating: 0, count: 10) + [255, 255] + bytes
                for (offset, byte) in whole.enumerated() { buffer[16 * place + offset] = byte }
            }
            return Int32(addresses.count)
        }
        system.enqueue = { job in
            if let job { Kernel.current.enqueue(job) }
        }
        system.enqueue_after = { nanoseconds, job in
            if let job { Kernel.current.enqueue(job, after: nanoseconds) }
        }
        system.start_thread = { body, argument in
            Kernel.current.startThread { sim_run_thread(body, argument) != 0 }
        }
        system.pause_thread = { thread, nanoseconds in
            Kernel.current.pauseThread(nanoseconds) { sim_continue_thread(thread) != 0 }
        }
        addFiles(to: &system)
        sim_install(&system)
    }

    private static func addFiles(to system: inout sim_system) {
        system.open_file = { path, creates, isExclusive, appends in
            guard let path else { return -EFAULT }
            if Kernel.current.isForeignFile { return -EACCES }
            return Int32(
                Kernel.current.onDisk("open") {
                    $0.open(
                        String(cString: path),
                        creates: creates != 0,
                        isExclusive: isExclusive != 0,
                        appends: appends != 0
                    )
                }
            )
        }
        system.read_time = { _ in
            let (kernel, now) = (Kernel.current, Kernel.current.now)
            return max(now + (kernel.disk.isSlow ? 2_000_000 : 0), kernel.hangsUntil) - now
        }
        system.read_file = { descriptor, buffer, count, offset in
            let buffer = UnsafeMutableRawBufferPointer(start: buffer, count: count)
            return Kernel.current.onDisk("read") { $0.read(descriptor, into: buffer, offset: Int(offset)) }
        }
        system.write_file = { descriptor, bytes, count, offset in
            let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
            return Kernel.current.onDisk("write") { $0.write(descriptor, bytes: bytes, offset: Int(offset)) }
        }
        system.truncate_file = { descriptor, size in
            Int32(Kernel.current.onDisk("truncate") { $0.truncate(descriptor, to: Int(size)) })
        }
        system.settle_file = { descriptor in Int32(Kernel.current.onDisk("fsync") { $0.settle(descriptor) }) }
        system.lock_file = { descriptor, locks in
            Int32(Kernel.current.onDisk("flock") { $0.lock(descriptor, locks: locks != 0) })
        }
        system.rename_file = { path, other in
            guard let path, let other else { return -EFAULT }
            return Int32(
                Kernel.current.onDisk("rename") {
                    $0.rename(String(cString: path), to: String(cString: other))
                }
            )
        }
        system.remove_file = { path in
            guard let path else { return -EFAULT }
            return Int32(Kernel.current.onDisk("unlink") { $0.remove(String(cString: path)) })
        }
        system.touch_file = { descriptor in Int32(Kernel.current.onDisk("touch") { $0.touch(descriptor) }) }
        addFacts(to: &system)
        addFolders(to: &system)
    }

    private static func addFacts(to system: inout sim_system) {
        system.find_open_file = { descriptor, facts in
            guard let found = Kernel.current.disk.find(descriptor) else {
                return Kernel.current.misused("fstat", descriptor)
            }
            facts?.pointee = found
            return 0
        }
        system.find_file = { path, facts in
            guard let path, let found = Kernel.current.disk.find(String(cString: path)) else {
                return -ENOENT
            }
            facts?.pointee = found
            return 0
        }
    }

    private static func addFolders(to system: inout sim_system) {
        system.make_folder = { path in
            guard let path else { return -EFAULT }
            return Int32(Kernel.current.onDisk("mkdir") { $0.makeFolder(String(cString: path)) })
        }
        system.name_folder = { descriptor, path, capacity in
            guard let name = Kernel.current.disk.folder(descriptor) else {
                return Kernel.current.misused("a call for a folder", descriptor)
            }
            return Kernel.write(name, to: path, capacity: capacity)
        }
        system.list_folder = { descriptor, place, name, capacity in
            var found: String?
            let result = Kernel.current.onDisk("readdir") {
                $0.list(descriptor, place: Int(place), name: &found)
            }
            guard result == 0 else { return Int32(result) }
            return found.map { Kernel.write($0, to: name, capacity: capacity) } ?? 0
        }
    }

    /// Writes a text with a zero behind it, and returns its length.
    private static func write(_ text: String, to buffer: UnsafeMutablePointer<CChar>?, capacity: Int32)
        -> Int32
    {
        let bytes = text.utf8CString
        guard let buffer, bytes.count <= capacity else { return -ENAMETOOLONG }
        for (place, byte) in bytes.enumerated() { buffer[place] = byte }
        return Int32(bytes.count - 1)
    }

    /// Makes a call of the disk, and notes it.
    func onDisk(_ name: StaticString, by call: (SimulatedDisk) -> Int) -> Int {
        disk.beforeCall()
        if let often = plan.otherWriter, unkind.below(1000) < often { disk.replaceByOther(&unkind) }
        let result = call(disk)
        if result == -Int(EBADF) { misuses("\(name) on a file that is not open") }
        note(name, amount: result)
        return result
    }
}
