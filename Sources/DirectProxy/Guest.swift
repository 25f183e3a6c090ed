internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// A program at the proxy, from its first byte until it has a tunnel or is refused.
final class Guest: @unchecked Sendable {
    let near: LayerStack
    let core: ProxyCore
    /// The bytes of it that are not used yet.
    var ahead: ArraySlice<UInt8> = []

    /// Whether it has shown that it may use the proxy.
    var isAdmitted = false
    /// The number of the task that serves it.
    var number: UInt64

    /// Why nothing more can be read of it, or sent.
    enum Lost: Error { case gone, late, cancelled }

    init(_ socket: Socket, number: UInt64, core: ProxyCore) {
        (near, self.number, self.core) = (LayerStack(socket), number, core)
        // A connection that was just made has room, of which the loop need not tell first.
        socket.output.signal()
    }

    var socket: Socket { near.socket }
    var loop: EventLoop { socket.loop }

    /// Serves it. A tunnel that it gets is a task of its own: this one keeps the memory that it needed to
    /// get there.
    func serve() async {
        let deadline = core.moment(after: core.limits.head)
        var isSOCKS = false
        do throws(Lost) {
            guard core.meet(number) else { throw .cancelled }
            try await fill(until: deadline)
            isSOCKS = ahead.first == SOCKSMessages.version
            let work = isSOCKS ? try await serveSOCKS(until: deadline) : await serveHTTP(until: deadline)
            if let work { core.begin(after: number, work) }
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

    /// Dials the target, tells the program that it is there, and returns the tunnel's work.
    func open(
        _ target: Target,
        _ road: TunnelReport.Road,
        saying words: [UInt8]
    ) async throws(Refusal) -> ProxyCore.Work {
        let start = loop.now
        let far = try await core.dialler.dial(target)
        do throws(Lost) {
            try await send(words, until: core.moment(after: core.limits.head))
        } catch {
            far.layers.reset()
            throw .gone
        }
        let names = core.configuration.serverNames
        let tunnel = Tunnel(
            self,
            to: far.layers,
            early: far.early[...],
            report: report(road, over: far, since: start),
            look: names == .ignored
                ? nil : HelloLook(for: target.host.description, insists: names == .matching)
        )
        return { _ in
            await tunnel.run()
            tunnel.tell(since: start)
        }
    }

    /// The beginning of a report.
    func report(_ road: TunnelReport.Road, over far: FarEnd, since start: Instant) -> TunnelReport {
        TunnelReport(
            road: road,
            target: far.target.description,
            endpoint: far.facts.endpoint,
            source: far.facts.source,
            failed: far.facts.search.failedAttempts.map(\.endpoint),
            connecting: loop.now.since(start),
            ending: .complete
        )
    }

    /// Gives its place back, and reports that there is no tunnel.
    func tell(_ refusal: Refusal, of target: Target?, road: TunnelReport.Road) {
        let report = TunnelReport(
            road: road,
            target: target?.description,
            isByStranger: !isAdmitted,
            endpoint: refusal.endpoint,
            source: refusal.source,
            failed: refusal.failed,
            ending: .refused(refusal.kind.status, refusal.line)
        )
        core.takeBack(number)
        core.configuration.onEvent?(.ended(report))
    }

    /// Takes the next event out of the bytes that are there, with its content.
    func next(
        _ reader: inout RequestReader
    ) throws(RequestFault) -> (event: RequestReader.Event, content: ArraySlice<UInt8>) {
        let bytes = ahead
        let step = try reader.next(bytes.span)
        ahead = bytes.dropFirst(step.used)
        guard case .content(let range) = step.event else { return (step.event, []) }
        return (step.event, bytes.dropFirst(range.lowerBound).prefix(range.count))
    }

    /// Reads more.
    func fill(until deadline: Instant) async throws(Lost) {
        while true {
            switch unsafe near.read(into: core.scratch) {
            case .moved(let count): return unsafe ahead += core.scratch[..<count]
            case .again: continue
            case .wantsRead, .wantsWrite: try check(await socket.input.wait(until: deadline, on: loop))
            case .ended, .failed: throw .gone
            }
        }
    }

    /// Sends all of these bytes.
    func send(_ bytes: [UInt8], until deadline: Instant) async throws(Lost) {
        var (rest, moved) = (bytes[...], UInt64(0))
        while true {
            let step = near.send(&rest, counting: &moved)
            guard !rest.isEmpty else { return }
            guard !step.isOver else { throw .gone }
            try check(await socket.output.wait(until: deadline, on: loop))
        }
    }

    private func check(_ wake: WaitPoint.Wake) throws(Lost) {
        switch wake {
        case .ready: return
        case .expired: throw .late
        case .cancelled: throw .cancelled
        }
    }

    /// Sends the last words and closes.
    func close(after words: [UInt8]) async {
        do throws(Lost) {
            try await send(words, until: core.moment(after: Self.farewell))
        } catch {
            return socket.close()
        }
        await close()
    }

    /// Closes behind the last words. Bytes that come meanwhile are read and dropped: the system would reset a
    /// connection that is closed with unread bytes, and the words would be lost. A proxy that stops does not
    /// wait for the end of a program whose system has them.
    ///
    /// - Parameter isInContent: Whether the program is in the midst of its content: it may send for long, and
    ///   begin late to read an answer of any length.
    func close(behindHalf isInContent: Bool = false) async {
        socket.finishSending()
        if isInContent {
            await near.waitUntilDelivered(within: core.limits.halfClosed) { await drop(until: $0) == .late }
        }
        if core.note(number, isResting: true) {
            await drop(until: core.moment(after: isInContent ? core.limits.halfClosed : Self.farewell))
        }
        socket.close()
    }

    /// Reads and drops what comes, until the program ends. Returns why there is no more.
    @discardableResult
    private func drop(until deadline: Instant) async -> Lost {
        do throws(Lost) {
            while true {
                ahead = []
                // A program that sends faster than this reads must not keep the loop: the waits look at that.
                try check(await socket.input.wait(until: deadline, on: loop))
                try await fill(until: deadline)
            }
        } catch {
            return error
        }
    }

    private static let farewell: Duration = .seconds(2)
}
