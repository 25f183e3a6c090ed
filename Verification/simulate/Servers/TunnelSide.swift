/// One side of a program's tunnel, the program or its target: it sends and ends as the plan says, and reads
/// what the other side has sent.
final class TunnelSide: @unchecked Sendable {
    let world: World
    let connection: SimulatedConnection
    let http: HTTPWire
    let judge: TunnelJudge
    let program: ProgramPlan
    private let number: Int
    private let isProgram: Bool
    private var side: ProgramPlan.Side { isProgram ? program.up : program.down }

    init(_ world: World, _ connection: SimulatedConnection, of judge: TunnelJudge, isProgram: Bool) {
        (self.world, self.connection, self.judge, self.isProgram) = (world, connection, judge, isProgram)
        (number, program) = (judge.number, judge.plan.programs[judge.number])
        http = HTTPWire(SocketWire(connection))
    }

    /// Sends the bytes of a tunnel, and ends as planned.
    func send(behind head: [UInt8] = []) async {
        do throws(WireError) {
            try await sendBytes(program.share(isUp: isProgram), behind: head)
            await end()
        } catch {}
    }

    /// Sends the next bytes of its direction, in pieces.
    ///
    /// - Parameters:
    ///   - isChunked: Whether each is a chunk.
    ///   - head: What is sent in one write with the first of them.
    func sendBytes(_ count: Int, isChunked: Bool = false, behind head: [UInt8]) async throws(WireError) {
        if count == 0, !head.isEmpty { try await http.wire.write(head) }
        var (left, head) = (count, head)
        while left > 0 {
            let (piece, start) = (min(side.piece, left), world.tunnels.programs[number][isProgram].sent)
            let bytes = Pattern.bytes(Pattern.tunnel(number, isUp: isProgram), from: start, count: piece)
            world.tunnels.programs[number][isProgram].sent += piece
            let size = Array("\(String(piece, radix: 16))\r\n".utf8)
            try await http.wire.write(head + (isChunked ? size + bytes + [13, 10] : bytes))
            (left, head) = (left - piece, [])
            if side.pause > 0 { await world.kernel.sleep(microseconds: side.pause) }
        }
    }

    /// Ends as planned behind the last byte.
    func end() async {
        switch side.ending {
        case .ends:
            world.tunnels.programs[number][isProgram].isFinished = true
            world.kernel.finish(connection, isUp: false)
        case .resets:
            // As soon as it is told of that: the proxy may not have passed on the last.
            while isOpen, connection.down.outstanding > 0 { await connection.waitForRoom() }
            connection.reset()
        case .rests: while isOpen { await world.kernel.sleep(microseconds: 200_000) }
        }
    }

    private var isOpen: Bool {
        connection.isOpenForClient && connection.isOpenForServer && !connection.isBroken
    }

    /// Reads the bytes of a tunnel to their end.
    func receive() async {
        do throws(WireError) {
            while true {
                let bytes = try await http.bytes(65_536)
                if bytes.isEmpty { return judge.judgeEnd(isUp: !isProgram) }
                if !isProgram { judge.judgeArrival(ofRequest: 0, on: connection) }
                judge.judge(bytes, isUp: !isProgram)
            }
        } catch {}
    }

    func close() { world.kernel.serverCloses(connection) }
}
