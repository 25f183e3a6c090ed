internal import DirectCore
internal import DirectTransport

/// A program behind a proxy of this machine.
struct TunnelProgram: Sendable {
    private let side: TunnelSide
    private let number: Int
    private let login: Proxy.Credentials?
    private var world: World { side.world }
    private var program: ProgramPlan { side.program }

    /// - Parameter credentials: Those of the proxy; `nil` if it asks for none.
    init(_ side: TunnelSide, credentials: Proxy.Credentials?) {
        (self.side, number) = (side, side.judge.number)
        switch side.program.login {
        case .right: login = credentials
        case .wrong: login = Proxy.Credentials(user: "direct", password: "wrong")
        case .none: login = nil
        }
    }

    func run() async {
        do throws(WireError) {
            switch program.road {
            case .connect: try await openTunnel(byConnect)
            case .socks: try await openTunnel(bySOCKS)
            case .http: for request in 0..<program.requests { try await ask(request) }
            }
        } catch {}
        side.close()
    }

    private func write(_ bytes: [UInt8]) async throws(WireError) {
        for start in stride(from: 0, to: bytes.count, by: program.up.piece) {
            try await side.http.wire.write(Array(bytes[start..<min(bytes.count, start + program.up.piece)]))
        }
    }

    private var loginField: String {
        guard let login else { return "" }
        let text = Base64.encode(Array("\(login.user):\(login.password)".utf8))
        return "Proxy-Authorization: Basic \(text)\r\n"
    }

    private func note(_ status: Int) {
        world.tunnels.programs[number].answer = status
    }

    // MARK: Tunnels

    /// What is sent to get a tunnel, and how the answer to each part is read: the status, once it is there.
    private typealias Step = (bytes: [UInt8], answer: () async throws(WireError) -> Int?)

    private func openTunnel(_ steps: [Step]) async throws(WireError) {
        var sending: Task<Void, Never>?
        if program.isEager {
            world.tunnels.programs[number].asked = 1
            let bytes = steps.flatMap(\.bytes)
            sending = Task { await side.send(behind: bytes) }
        }
        for (place, step) in steps.enumerated() {
            if !program.isEager {
                try await write(step.bytes)
                if place == steps.count - 1 { world.tunnels.programs[number].asked = 1 }
            }
            guard let status = try await answer(to: step) else { continue }
            note(status)
            guard status == 200 else {
                sending?.cancel()
                while try await !side.http.bytes(65_536).isEmpty {}
                break
            }
            if sending == nil { sending = Task { await side.send() } }
            await side.receive()
        }
        await sending?.value
    }

    /// A program that breaks off at once need not have had an answer.
    private func answer(to step: Step) async throws(WireError) -> Int? {
        do throws(WireError) { return try await step.answer() } catch {
            if program.isEager, program.up.ending == .resets {
                world.tunnels.programs[number].hasLeft = true
            }
            throw error
        }
    }

    private var byConnect: [Step] {
        let name = world.name(ofProgram: number)
        let head = "CONNECT \(name) HTTP/1.1\r\nHost: \(name)\r\n\(loginField)\r\n"
        return [(Array(head.utf8), { () async throws(WireError) in try await readHead().status })]
    }

    private var bySOCKS: [Step] {
        var steps: [Step] = []
        let port = TunnelLedger.port(ofProgram: number)
        let method: UInt8 = login == nil ? 0 : 2
        steps.append(
            ([5, 1, method], { () async throws(WireError) in try await take(2)[1] == method ? nil : 407 })
        )
        if let login {
            let (user, password) = (Array(login.user.utf8), Array(login.password.utf8))
            let bytes = [1, UInt8(user.count)] + user + [UInt8(password.count)] + password
            steps.append((bytes, { () async throws(WireError) in try await take(2)[1] == 0 ? nil : 407 }))
        }
        let address = world.address(0, ofHost: program.host)
        let name = Array(Material.name(program.host).utf8)
        let type: UInt8 = !program.namesAddress ? 3 : address.family == .v4 ? 1 : 4
        let host = program.namesAddress ? address.bytes : [UInt8(name.count)] + name
        let request = [5, 1, 0, type] + host + [UInt8(port >> 8), UInt8(port & 255)]
        steps.append((request, { () async throws(WireError) in status(ofReply: try await take(10)[1]) }))
        return steps
    }

    /// The status that says the same as a reply of SOCKS.
    private func status(ofReply code: UInt8) -> Int {
        switch code {
        case 0: 200
        case 1: 503
        case 2: 403
        case 6: 504
        default: 502
        }
    }

    private func take(_ count: Int) async throws(WireError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try await side.http.bytes(count - bytes.count)
            if more.isEmpty { throw .broken }
            bytes += more
        }
        return bytes
    }

    // MARK: Requests

    /// Reads the head of an answer.
    private func readHead() async throws(WireError) -> (status: Int, length: Int?) {
        let words = try await side.http.line().split(separator: " ")
        guard words.count > 1, words[0] == "HTTP/1.1", let status = Int(words[1]) else { throw .broken }
        var length: Int?
        while true {
            let line = try await side.http.line().lowercased()
            if line.isEmpty { return (status, length) }
            if line.hasPrefix("content-length: ") { length = Int(line.dropFirst(16)) }
        }
    }

    private func ask(_ request: Int) async throws(WireError) {
        let (name, size) = (world.name(ofProgram: number), program.up.size)
        let framing = program.isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(size)"
        let line = "POST http://\(name)/\(request) HTTP/1.1\r\nHost: \(name)\r\n"
        let head = Array("\(line)\(loginField)\(framing)\r\n\r\n".utf8)
        if !program.isEager { try await write(head) }
        world.tunnels.programs[number].asked += 1
        let sending = Task { () async in
            do throws(WireError) {
                let (count, isChunked) = (program.share(isUp: true), program.isChunked)
                try await side.sendBytes(count, isChunked: isChunked, behind: program.isEager ? head : [])
                if program.up.ending != .ends { return await side.end() }
                if program.isChunked { try await side.http.wire.write(Array("0\r\n\r\n".utf8)) }
            } catch {}
        }
        // Nobody answers half a request.
        world.tunnels.programs[number].hasLeft = program.up.ending != .ends
        let (status, length) = try await readHead()
        note(status)
        if status == 200 {
            try await readContent(length)
        } else {
            while try await !side.http.bytes(65_536).isEmpty {}
            throw .broken
        }
        await sending.value
    }

    private func readContent(_ length: Int?) async throws(WireError) {
        var left = length ?? .max
        while left > 0 {
            let bytes = try await side.http.bytes(min(left, 65_536))
            guard !bytes.isEmpty else {
                side.judge.judgeEnd(isUp: false)
                return
            }
            left -= bytes.count
            side.judge.judge(bytes, isUp: false)
        }
    }
}
