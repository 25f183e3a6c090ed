internal import DirectCore
internal import DirectHello
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// A program at the proxy, from its first byte until it has a tunnel or is refused.
final class Guest: @unchecked Sendable {
    let socket: Socket
    let core: ProxyCore
    /// What was read of it and not used yet.
    var ahead: ArraySlice<UInt8> = []

    /// It is gone, silent for too long, or the proxy has stopped: there is no one to tell.
    struct Lost: Error {}

    init(_ socket: Socket, core: ProxyCore) {
        (self.socket, self.core) = (socket, core)
        // A connection that was just made has room, of which the loop need not tell first.
        socket.output.signal()
    }

    var loop: EventLoop { socket.loop }

    /// Serves it. Returns the rest of the work, if it has got a tunnel.
    func serve() async -> (@Sendable () async -> Void)? {
        let deadline = moment(after: core.limits.head)
        do throws(Lost) {
            if ahead.isEmpty { try await fill(until: deadline) }
            if ahead.first == SOCKSGreeting.version { return try await serveSOCKS(until: deadline) }
            return try await serveHTTP(until: deadline)
        } catch {
            socket.reset()
            return nil
        }
    }

    /// Finds and dials the target, and returns the connection to it.
    func reach(_ target: Target) async throws(Refusal) -> FarEnd {
        let end = moment(after: core.limits.dial)
        let limit = CallLimit(Self.timeouts, until: end)
        let plan = try await core.planner.plan(target, within: limit)
        return try await core.dialler.dial(plan, to: target, within: limit)
    }

    /// Returns the tunnel's work, with the report at its end.
    func tunnel(
        _ far: FarEnd,
        to target: Target,
        reporting report: TunnelReport,
        since start: Instant
    ) -> @Sendable () async -> Void {
        let names = core.configuration.serverNames
        let look =
            names == .ignored
            ? nil : HelloLook(for: target.host.description, insists: names == .matching)
        let tunnel = Tunnel(near: .socket(socket), far: far.end, early: ahead, look: look, core: core)
        ahead = []
        let (core, onEvent) = (core, core.configuration.onEvent)
        return {
            let ending = await tunnel.run()
            guard let onEvent else { return }
            var report = report
            (report.sent, report.received) = tunnel.moved
            report.time = core.loop.now.since(start)
            report.ending = ending
            if let hello = tunnel.hello {
                (report.serverName, report.protocols) = (hello.serverName, hello.protocols)
                report.hasEncryptedHello = hello.hasEncryptedHello
            }
            onEvent(.ended(report))
        }
    }

    /// Reports that there is no tunnel.
    func tell(_ refusal: Refusal, of target: Target?, road: TunnelReport.Road) {
        core.configuration.onEvent?(
            .ended(
                TunnelReport(
                    road: road,
                    target: target?.description,
                    ending: .refused(refusal.kind.status, refusal.line)
                )
            )
        )
    }

    /// Reads more.
    func fill(until deadline: Instant) async throws(Lost) {
        while true {
            var step = Connection.Step.wantsRead
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.piece) { buffer, count in
                unsafe step = socket.step(readingInto: UnsafeMutableRawBufferPointer(buffer))
                if case .moved(let moved) = step { count = moved }
            }
            switch step {
            case .moved:
                ahead += bytes
                return
            case .again: continue
            case .wantsRead, .wantsWrite:
                guard case .ready = await socket.input.wait(until: deadline, on: loop) else { throw Lost() }
            case .ended, .failed: throw Lost()
            }
        }
    }

    /// Sends all of these bytes.
    func send(_ bytes: [UInt8], until deadline: Instant) async throws(Lost) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let step = unsafe rest.withUnsafeBytes { unsafe socket.step(writing: $0) }
            switch step {
            case .moved(let count): rest = rest.dropFirst(count)
            case .again: continue
            case .wantsRead, .wantsWrite:
                guard case .ready = await socket.output.wait(until: deadline, on: loop) else { throw Lost() }
            case .ended, .failed: throw Lost()
            }
        }
    }

    /// Sends the last words and closes. What the program sends meanwhile is read and dropped: the system
    /// would reset a connection that is closed with unread bytes, and the words would be lost.
    func close(after words: [UInt8]) async {
        let deadline = moment(after: .seconds(2))
        do throws(Lost) {
            try await send(words, until: deadline)
            socket.finishSending()
            for _ in 0..<Self.mostDropped {
                ahead = []
                try await fill(until: deadline)
            }
        } catch {}
        socket.close()
    }

    func moment(after time: Duration) -> Instant {
        loop.now.advanced(byNanoseconds: time.clampedNanoseconds)
    }

    private static let timeouts = Timeouts().nanoseconds
    private static let piece = 4096
    /// Half a megabyte.
    private static let mostDropped = 128
}
