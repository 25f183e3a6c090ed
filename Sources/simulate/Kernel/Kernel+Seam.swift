internal import CSimulation
internal import DirectCore
internal import Glibc

extension Kernel {
    /// Makes the current kernel answer the functions of the C library.
    static func install() {
        var system = sim_system()
        system.open_socket = { Kernel.current.openSocket() }
        system.connect = { descriptor, address, length, port in
            let bytes = UnsafeBufferPointer(start: address, count: Int(length))
            guard let address = IPAddress(bytes: Array(bytes)) else { return -EINVAL }
            return Kernel.current.connect(descriptor, to: address, port: Int(port))
        }
        system.receive = { descriptor, buffer, count, peeks in
            let buffer = UnsafeMutableRawBufferPointer(start: buffer, count: count)
            return Kernel.current.receive(on: descriptor, into: buffer, peeks: peeks != 0)
        }
        system.send = { descriptor, bytes, count in
            Kernel.current.send(on: descriptor, UnsafeRawBufferPointer(start: bytes, count: count))
        }
        system.set_mark = { descriptor, bytes in
            Kernel.current.setMark(descriptor, bytes: Int(bytes))
        }
        system.shut_down = { descriptor in
            Kernel.current.shutDown(descriptor)
            return 0
        }
        system.close = { Kernel.current.close($0) }
        system.take_error = { Kernel.current.takeError($0) }
        system.is_connected = { Kernel.current.isConnected($0) ? 1 : 0 }
        system.watch = { descriptor, token in
            Kernel.current.watch(descriptor, token: token)
            return 0
        }
        system.unwatch = { descriptor in
            Kernel.current.watch(descriptor, token: nil)
            return 0
        }
        system.wait = { buffer, capacity, milliseconds in
            guard let buffer else { return -EFAULT }
            return Kernel.current.wait(buffer, capacity: Int(capacity), milliseconds: milliseconds)
        }
        system.now = { Kernel.current.now }
        system.random = { Kernel.current.randomWord() }
        system.look_up = { name, buffer, capacity in
            guard let name, let buffer else { return EAI_FAIL }
            let addresses = Kernel.current.lookUp(String(cString: name)).prefix(Int(capacity))
            guard !addresses.isEmpty else { return EAI_NONAME }
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
            Kernel.current.startThread { sim_run_thread(body, argument) }
        }
        sim_install(&system)
    }
}
