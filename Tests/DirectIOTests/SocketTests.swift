import DirectCore
import DirectTestCommands
import DirectTestPeers
import Testing

@testable import DirectIO

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite("Sockets", .idleLimit)
struct SocketTests {
    private let loop = EventLoop.shared

    @Test("A socket connects, sends and receives", arguments: ["127.0.0.1", "::1"])
    func conversation(_ address: String) async throws {
        let (socket, peer) = try await connected(to: try Listener(address))
        defer { socket.close() }
        try socket.sendAll("ping")
        #expect(try peer.receive(exactly: 4) == Array("ping".utf8))
        try peer.send("pong")
        #expect(try await socket.next() == "pong")
        #expect(socket.now() == "would block")
    }

    @Test("A read returns no bytes before the peer has sent any")
    func nothing() async throws {
        let (socket, peer) = try await connected()
        defer { socket.close() }
        #expect(socket.now() == "would block")
        #expect(socket.now() == "would block")
        withExtendedLifetime(peer) {}
    }

    @Test(
        "An error of the system says whether the peer can know of it",
        arguments: [
            (ENOBUFS, true), (ENOMEM, true), (EPERM, true), (EACCES, true), (EPIPE, false),
            (ECONNRESET, false), (ETIMEDOUT, false),
        ] as [(Int32, Bool)]
    )
    func meaning(_ code: Int32, _ leavesConnectionOpen: Bool) {
        let error = SystemError("send", code: code)
        #expect(error.leavesConnectionOpen == leavesConnectionOpen)
        #expect(error.meansTimedOut == (code == ETIMEDOUT))
    }

    @Test("A port without a listener refuses the connection, as an error of connect")
    func refused() async throws {
        let listener = try Listener(listening: false)
        await #expect(throws: SystemError("connect", code: ECONNREFUSED)) {
            try await connect(to: listener).close()
        }
    }

    #if canImport(Glibc)
    @Test("A socket that the loop cannot watch is closed at once", .ownProcess)
    func unwatchable() async {
        await #expect(processExitsWith: .success) {
            let listener = try Listener()
            // One descriptor is left: enough for the socket, and not for the loop's queue.
            let next = dup(0)
            _ = Glibc.close(next)
            var limits = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
            let usual = limits.rlim_cur
            limits.rlim_cur = rlim_t(next + 1)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
            // A sanitizer opens files at the end of the process.
            defer {
                limits.rlim_cur = usual
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
            }
            // It never turns, so it releases no handle.
            let loop = EventLoop(isDriven: ())
            let address = try #require(IPAddress("127.0.0.1"))
            #expect(throws: Socket.StartFailure.self) {
                try Socket.connecting(to: address, port: listener.port, on: loop)
            }
            // Another thread of the process may have opened something else there.
            var status = stat()
            let isSocket = fstat(next, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
            try #require(!isSocket)
        }
    }
    #endif

    @Test("A zone without an interface is an error of the address")
    func unknownZone() throws {
        let address = try #require(IPAddress("fe80::1%nowhere"))
        #expect {
            try Socket.connecting(to: address, port: 80, on: loop)
        } throws: { error in
            if case .address(.unknownZone("nowhere")) = error as? Socket.StartFailure { true } else { false }
        }
    }

    @Test("A wait for a silent peer ends with its deadline")
    func silence() async throws {
        let (socket, peer) = try await connected()
        defer { socket.close() }
        let wake = await socket.input.wait(until: .now.advanced(byNanoseconds: 5_000_000), on: loop)
        #expect(wake == .expired)
        withExtendedLifetime(peer) {}
    }

    @Test("The end of the stream is reported again and again")
    func endOfStream() async throws {
        let (socket, peer) = try await connected()
        defer { socket.close() }
        peer.finishSending()
        #expect(try await socket.next() == "end")
        #expect(socket.now() == "end")
        #expect(socket.now() == "end")
        #expect(socket.isHungUp)
    }

    @Test("Bytes that arrive together with the end are not lost", arguments: [1, 2, 3, 4, 64])
    func dataThenEnd(bufferSize: Int) async throws {
        let (socket, peer) = try await connected()
        defer { socket.close() }
        try peer.send("bye")
        peer.finishSending()
        // Until both are there, for one event speaks of them.
        while !socket.isHungUp { await loop.pause(milliseconds: 1) }
        var text = ""
        while case let more = socket.now(atMost: bufferSize), more != "end" {
            guard more != "would block" else {
                Issue.record("would block, with the end of the stream behind \(text)")
                return
            }
            text += more
        }
        #expect(text == "bye")
    }

    @Test("A socket that has finished sending still receives")
    func halfClose() async throws {
        let (socket, peer) = try await connected()
        defer { socket.close() }
        try socket.sendAll("question")
        socket.finishSending()
        #expect(try peer.receive(exactly: 100) == Array("question".utf8))
        try peer.send("answer")
        #expect(try await socket.next() == "answer")
        peer.finishSending()
        #expect(try await socket.next() == "end")
    }

    @Test("A reset is reported by its errno")
    func reset() async throws {
        let (socket, client) = try await connect(to: try Listener()) { peer in
            peer.resetOnClose()
            return peer.client
        }
        defer { socket.close() }
        #expect(client != nil)
        #expect(try await socket.next() == "errno \(ECONNRESET)")
    }

    #if os(Linux)
    @Test(
        "The end behind a peer that is out of reach, which sending has found, is no end that it has announced"
    )
    func vanished() async throws {
        let (socket, peer) = try await connected()
        defer { socket.close() }
        var patience: UInt32 = 100
        let size = socklen_t(MemoryLayout<UInt32>.size)
        setsockopt(socket.descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &patience, size)
        peer.vanish()
        #expect(socket.sendNow("are you there?") == "14")
        while !socket.isHungUp { await loop.pause(milliseconds: 1) }
        #expect(socket.sendNow("still?") == "errno \(ETIMEDOUT)")
        #expect(socket.now() == "errno \(ETIMEDOUT)")
    }
    #endif

    @Test("A reset that a look at the socket has found is no end of the stream", arguments: [true, false])
    func seenReset(byPeeking: Bool) async throws {
        let (socket, peer) = try await connected()
        defer { socket.close() }
        peer.reset()
        while !socket.isHungUp { await loop.pause(milliseconds: 1) }
        if byPeeking { socket.noticeUnseenInput() } else { #expect(socket.countOnTheWay == 0) }
        #expect(socket.now() == "errno \(ECONNRESET)")
    }

    @Test("Writing to a closed peer is an error and raises no signal")
    func brokenPipe() async throws {
        let (socket, _) = try await connect(to: try Listener()) { $0.client }
        defer { socket.close() }
        #expect(try await socket.next() == "end")
        var outcomes: [String] = []
        let isRaised = raisesBrokenPipe {
            for _ in 0..<3 { outcomes.append(socket.sendNow("are you there?")) }
        }
        #expect(!isRaised)
        // The first write draws the reset, and the others meet it: none says to wait for room, which never
        // comes.
        #expect(outcomes == ["14", "errno \(EPIPE)", "errno \(EPIPE)"])
    }

    @Test("A transfer of a megabyte survives full buffers, in either direction", arguments: Place.allCases)
    func bigTransfer(_ place: Place) async throws {
        let (socket, peer) = try await connected()
        defer { socket.close() }
        let bytes = moreThanTheKernelKeeps()
        let sending = place.start(loop) { try await socket.send(all: bytes) }
        // The peer begins to read only when no more fits in between.
        while !socket.isBlocked { await loop.pause(milliseconds: 1) }
        let received = try await onOwnThread { try peer.receive(exactly: bytes.count) == bytes }
        #expect(received)
        try await sending.value

        async let answer: Void = onOwnThread { try peer.send(bytes) }
        let receiving = place.start(loop) { try await socket.receive(exactly: bytes.count) == bytes }
        #expect(try await receiving.value)
        try await answer
    }

    @Test("Many exchanges of single bytes never hang", arguments: Place.allCases)
    func pingPong(_ place: Place) async throws {
        let (socket, peer) = try await connected()
        defer { socket.close() }
        let rounds = 5000
        async let echo: Void = onOwnThread { for _ in 0..<rounds { try peer.send(try peer.receive(1)) } }
        let client = place.start(loop) {
            for _ in 0..<rounds {
                try await socket.send(all: [7])
                guard try await socket.receive(exactly: 1) == [7] else { return false }
            }
            return true
        }
        #expect(try await client.value)
        try await echo
    }

    /// The second byte often comes between the system call for the first one and what is done with its
    /// answer.
    @Test("A byte right after another one is not missed", arguments: Place.allCases)
    func closeBehind(_ place: Place) async throws {
        let (socket, peer) = try await connected()
        defer { socket.close() }
        let rounds = 10_000
        async let pairs: Void = onOwnThread {
            // Otherwise the client would wait for ever behind a peer that has given up.
            defer { peer.finishSending() }
            for _ in 0..<rounds {
                try peer.send([1])
                try peer.send([2])
                _ = try peer.receive(1)
            }
        }
        let client = place.start(loop) {
            for _ in 0..<rounds {
                guard try await socket.receive(exactly: 2) == [1, 2] else { return false }
                try await socket.send(all: [3])
            }
            return true
        }
        #expect(try await client.value)
        try await pairs
    }

    @Test("A descriptor is not inherited by other programs, never blocks, and sends at once")
    func flags() async throws {
        let listener = try Listener.atOwnAddress()
        let (socket, peer) = try await connected(to: listener)
        defer { socket.close() }
        let descriptor = try #require(try descriptors(connectedTo: listener).first)
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
        var (noDelay, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, &length)
        #expect(noDelay != 0)
        withExtendedLifetime(peer) {}
    }

    @Test("Closing, once or twice, closes the descriptor, and the loop releases the socket")
    func close() async throws {
        let listener = try Listener.atOwnAddress()
        weak var gone: Socket?
        do {
            let (socket, peer) = try await connected(to: listener)
            gone = socket
            #expect(try descriptors(connectedTo: listener).count == 1)
            socket.close()
            socket.close()
            #expect(try peer.receive().isEmpty)
        }
        #expect(try descriptors(connectedTo: listener).isEmpty)
        await loop.drain()
        await loop.drain()
        #expect(gone == nil)
    }

    @Test("A descriptor is found whatever its number")
    func highNumber() async throws {
        let listener = try Listener.atOwnAddress()
        let (socket, peer) = try await connected(to: listener)
        defer { socket.close() }
        let low = try #require(try descriptors(connectedTo: listener).first)
        // The system may allow none so high: then there is nothing to find.
        guard let high = duplicate(low, atLeast: 4096) else { return }
        #expect(Set(try descriptors(connectedTo: listener)) == [low, high])
        DirectTestPeers.closeDescriptor(high)
        #expect(try descriptors(connectedTo: listener) == [low])
        withExtendedLifetime(peer) {}
    }

    @Test("Failed connections leave no descriptor open")
    func noLeaks() async throws {
        let refusing = try Listener(listening: false)
        let zoned = try #require(IPAddress("fe80::1%nowhere"))
        let before = try openDescriptors().count
        for _ in 0..<1000 {
            _ = try? await connect(to: refusing).close()
            _ = try? Socket.connecting(to: zoned, port: 80, on: loop)
        }
        // Other tests run at the same time and open many, but not for long.
        let end = Instant.now.advanced(byNanoseconds: 30_000_000_000)
        while try openDescriptors().count >= before + 500, .now < end { await loop.pause(milliseconds: 50) }
        #expect(try openDescriptors().count < before + 500)
    }

    private func connected(to listener: Listener? = nil) async throws -> (Socket, Peer) {
        try await connect(to: try listener ?? Listener()) { $0 }
    }

    /// The peer is closed behind `body`, unless that keeps it.
    private func connect<Value>(
        to listener: Listener,
        _ body: (Peer) throws -> Value
    ) async throws -> (Socket, Value) {
        let socket = try await connect(to: listener)
        return (socket, try body(try listener.accept()))
    }

    private func connect(to listener: Listener) async throws -> Socket {
        let socket: Socket
        do throws(Socket.StartFailure) {
            socket = try Socket.connecting(to: listener.address, port: listener.port, on: loop)
        } catch {
            if case .system(let cause) = error { throw cause }
            throw error
        }
        do {
            _ = await socket.output.wait(until: .never, on: loop)
            try socket.finishConnecting()
            return socket
        } catch {
            socket.close()
            throw error
        }
    }
}

/// 16 MiB with a prime period, which shows what is missing or swapped.
private func moreThanTheKernelKeeps() -> [UInt8] {
    let period = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 * 31 + $0 >> 8) }
    var bytes: [UInt8] = []
    for _ in 0..<256 { bytes += period }
    return bytes
}

extension Socket {
    /// The result of one attempt to receive, in words.
    fileprivate func now(atMost count: Int = 1024) -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        return switch receive(into: &bytes, count: count) {
        case .moved(let count): String(decoding: bytes[..<count], as: UTF8.self)
        case .endOfStream: "end"
        case .wouldBlock: "would block"
        case .failed(let code): "errno \(code)"
        }
    }

    fileprivate func sendNow(_ text: String) -> String {
        let bytes = Array(text.utf8)
        return switch send(bytes, count: bytes.count) {
        case .moved(let count): "\(count)"
        case .endOfStream: "end"
        case .wouldBlock: "would block"
        case .failed(let code): "errno \(code)"
        }
    }

    /// The next thing that happens.
    fileprivate func next() async throws -> String {
        while true {
            let found = now()
            guard found == "would block" else { return found }
            try #require(await input.wait(until: .never, on: loop) == .ready)
        }
    }

    fileprivate func sendAll(_ text: String) throws {
        try #require(sendNow(text) == "\(text.utf8.count)")
    }

    fileprivate var isBlocked: Bool { !output.isReady }

    /// Sends all of it, and waits where there is no room.
    fileprivate func send(all bytes: [UInt8]) async throws {
        var sent = 0
        while sent < bytes.count {
            let outcome = bytes.withUnsafeBytes { all in
                all.baseAddress.map { send($0 + sent, count: all.count - sent) }
            }
            switch outcome {
            case .moved(let count): sent += count
            case .wouldBlock:
                try #require(await output.wait(until: .never, on: loop) == .ready)
            case .endOfStream, .failed, nil: throw SystemError("send", code: 0)
            }
        }
    }

    /// Asks for more than it needs, as readers of unknown lengths do.
    fileprivate func receive(exactly count: Int) async throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count + 1000)
        var received = 0
        while received < count {
            let outcome = bytes.withUnsafeMutableBytes { all in
                all.baseAddress.map {
                    receive(into: $0 + received, count: min(all.count - received, 100_000))
                }
            }
            switch outcome {
            case .moved(let count): received += count
            case .wouldBlock: try #require(await input.wait(until: .never, on: loop) == .ready)
            case .endOfStream, .failed, nil: throw SystemError("recv", code: 0)
            }
        }
        bytes.removeSubrange(received...)
        return bytes
    }
}
