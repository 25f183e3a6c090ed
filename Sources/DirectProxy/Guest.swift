internal import DirectCore
internal import DirectHello
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// A program at the proxy, from its first byte until it has a tunnel or is refused.
final class Guest: @unchecked Sendable {
    let socket: Socket
    let core: ProxyCore
    /// The bytes of it that are not used yet.
    var ahead: ArraySlice<UInt8> = []

    /// Whether it has shown that it may use the proxy.
    var isAdmitted = false
    /// The number of its task.
    private let number: UInt64

    /// Why nothing more can be read of it, or sent.
    enum Lost: Error { case gone, late, cancelled }

    init(_ socket: Socket, number: UInt64, core: ProxyCore) {
        (self.socket, self.number, self.core) = (socket, number, core)
        // A connection that was just made has room, of which the loop need not tell first.
        socket.output.signal()
    }

    var loop: EventLoop { socket.loop }

    /// Serves it. A tunnel that it gets is a task of its own: this one keeps the memory that it needed to
    /// get there.
    func serve() async {
        let deadline = moment(after: core.limits.head)
        var isSOCKS = false
        do throws(Lost) {
            guard core.meet(number) else { throw .cancelled }
            try await fill(until: deadline)
            isSOCKS = ahead.first == SOCKSGreeting.version
            let work = isSOCKS ? try await serveSOCKS(until: deadline) : await serveHTTP(until: deadline)
            if let work { core.begin(work) }
        } catch {
            guard error == .cancelled, !core.isStopped else { return socket.reset() }
            // An answer would keep the descriptor until it has been read.
            if isSOCKS || core.isShort {
                tell(.crowded, of: nil, road: isSOCKS ? .socks : .connect)
                socket.reset()
            } else {
                await refuse(.crowded, to: nil)
            }
        }
    }

    /// Takes a place for a tunnel. From here on it is no stranger.
    func place() throws(Refusal) -> Room.Place { try core.place(for: number) }

    /// Dials the target, tells the program that it is there, and returns the tunnel's work.
    func open(
        _ target: Target,
        _ road: TunnelReport.Road,
        in place: consuming Room.Place,
        saying words: [UInt8]
    ) async throws(Refusal) -> ProxyCore.Work {
        let start = loop.now
        let far = try await reach(target)
        do throws(Lost) {
            try await send(words, until: moment(after: core.limits.head))
        } catch {
            far.end.reset()
            throw .gone
        }
        let report = report(road, to: target, over: far, since: start)
        let names = core.configuration.serverNames
        let look =
            names == .ignored
            ? nil : HelloLook(for: target.host.description, insists: names == .matching)
        let tunnel = Tunnel(
            near: .socket(socket),
            far: far.end,
            in: consume place,
            early: ahead,
            earlyBack: far.early[...],
            look: look,
            core: core
        )
        ahead = []
        return { [core] _ in
            let ending = await tunnel.run()
            guard let onEvent = core.configuration.onEvent else { return }
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

    /// Finds and dials the target, and returns the connection to it.
    func reach(_ target: Target) async throws(Refusal) -> FarEnd {
        let end = moment(after: core.limits.dial)
        let limit = CallLimit(core.timeouts, until: end)
        let plan = try await core.planner.plan(target, within: limit)
        return try await core.dialler.dial(plan, to: target, within: limit)
    }

    /// The beginning of a report.
    func report(
        _ road: TunnelReport.Road,
        to target: Target,
        over far: FarEnd,
        since start: Instant
    ) -> TunnelReport {
        TunnelReport(
            road: road,
            target: target.description,
            endpoint: far.facts.endpoint,
            source: far.facts.source,
            failed: far.facts.search.failedAttempts.map(\.endpoint),
            connecting: loop.now.since(start),
            ending: .complete
        )
    }

    /// Reports that there is no tunnel.
    func tell(_ refusal: Refusal, of target: Target?, road: TunnelReport.Road) {
        core.configuration.onEvent?(
            .ended(
                TunnelReport(
                    road: road,
                    target: target?.description,
                    isByStranger: !isAdmitted,
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
                try check(await socket.input.wait(until: deadline, on: loop))
            case .ended, .failed: throw .gone
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
                try check(await socket.output.wait(until: deadline, on: loop))
            case .ended, .failed: throw .gone
            }
        }
    }

    private func check(_ wake: WaitPoint.Wake) throws(Lost) {
        switch wake {
        case .ready: return
        case .expired: throw .late
        case .cancelled: throw .cancelled
        }
    }

    /// Sends the last words and closes. Bytes that come meanwhile are read and dropped: the system
    /// would reset a connection that is closed with unread bytes, and the words would be lost.
    func close(after words: [UInt8]) async {
        let end = moment(after: .seconds(2))
        do throws(Lost) { try await send(words, until: end) } catch { return socket.close() }
        socket.finishSending()
        await drop(until: end, atMost: Self.mostDropped)
        socket.close()
    }

    /// Closes behind an answer that was sent.
    ///
    /// - Parameters:
    ///   - isInContent: Whether the program is in the midst of its content: it may send for long, and begin
    ///     late to read an answer of any length.
    ///   - mayLinger: Called when the program's system has the answer. Returns whether to wait for the end
    ///     of the program.
    func close(behindHalf isInContent: Bool, mayLinger: () -> Bool) async {
        socket.finishSending()
        if isInContent {
            var delivery = Delivery(on: socket, within: core.limits.halfClosed)
            while !delivery.isComplete {
                guard await drop(until: delivery.nextLook, atMost: .max) == .late else { break }
            }
        }
        guard mayLinger() else { return socket.close() }
        let limit = isInContent ? core.limits.halfClosed : .seconds(2)
        await drop(until: moment(after: limit), atMost: isInContent ? .max : Self.mostDropped)
        socket.close()
    }

    /// Reads and drops what comes. Returns why it ends; `nil` after so many pieces.
    @discardableResult
    private func drop(until deadline: Instant, atMost pieces: Int) async -> Lost? {
        do throws(Lost) {
            for piece in 1...pieces {
                ahead = []
                try await fill(until: deadline)
                // A program that sends faster than this reads must not keep the loop.
                if piece % Self.piecesPerTurn == 0 {
                    await loop.yield()
                    guard loop.now < deadline else { throw .late }
                }
            }
            return nil
        } catch {
            return error
        }
    }

    func moment(after time: Duration) -> Instant {
        loop.now.advanced(byNanoseconds: time.clampedNanoseconds)
    }

    private static let piece = 4096
    private static let piecesPerTurn = 16
    /// Half a megabyte.
    private static let mostDropped = 128
}
