internal import DirectCore
internal import DirectIO
internal import DirectTransport

/// Programs that speak SOCKS, version 5.
extension Guest {
    func serveSOCKS(until deadline: Instant) async throws(Lost) -> ProxyCore.Work? {
        guard try await agree(until: deadline) else { return nil }
        isAdmitted = true
        let head = try await take(4, until: deadline)
        guard head[0] == SOCKSMessages.version, head[2] == 0 else { throw .gone }
        let target = try await target(ofType: head[3], until: deadline)
        do throws(Refusal) {
            guard head[1] == SOCKSMessages.connect else { throw .notConnect }
            guard let target else { throw .notAHost }
            try core.admit(number)
            return try await open(target, .socks, saying: Self.reply(0))
        } catch {
            await refuse(error, of: target, saying: Self.reply(error.kind.reply))
            return nil
        }
    }

    private func refuse(_ refusal: Refusal, of target: Target? = nil, saying words: [UInt8]) async {
        tell(refusal, of: target, road: .socks)
        await close(after: words)
    }

    /// Agrees on the way to log in, and logs the program in. Returns whether it may go on.
    private func agree(until deadline: Instant) async throws(Lost) -> Bool {
        let count = Int(try await take(2, until: deadline)[1])
        let offered = try await take(count, until: deadline)
        let wanted =
            core.access.credentials == nil ? SOCKSMessages.Method.none : SOCKSMessages.Method.password
        guard offered.contains(wanted) else {
            await refuse(.noCredentials, saying: [SOCKSMessages.version, 0xFF])
            return false
        }
        try await send([SOCKSMessages.version, wanted], until: deadline)
        guard wanted == SOCKSMessages.Method.password else { return true }
        guard try await take(1, until: deadline)[0] == 1 else { throw .gone }
        let user = try await text(until: deadline)
        let password = try await text(until: deadline)
        guard core.access.admits(user: user[...], password: password[...]) else {
            await refuse(.noCredentials, saying: [1, 1])
            return false
        }
        try await send([1, 0], until: deadline)
        return true
    }

    /// Reads the address of a request, and makes a target of it; `nil` if it is none.
    private func target(ofType type: UInt8, until deadline: Instant) async throws(Lost) -> Target? {
        let host: [UInt8]
        switch type {
        case 1: host = try await take(4, until: deadline)
        case 3: host = try await text(until: deadline)
        case 4: host = try await take(16, until: deadline)
        default: throw .gone
        }
        let port = try await take(2, until: deadline)
        let number = UInt16(port[0]) << 8 | UInt16(port[1])
        if type == 3 { return Target(authority: host + Array(":\(number)".utf8)) }
        return IPAddress(bytes: host).flatMap { Target($0, port: number) }
    }

    /// Reads a length, and so many bytes.
    private func text(until deadline: Instant) async throws(Lost) -> [UInt8] {
        try await take(Int(try await take(1, until: deadline)[0]), until: deadline)
    }

    private func take(_ count: Int, until deadline: Instant) async throws(Lost) -> [UInt8] {
        while ahead.count < count { try await fill(until: deadline) }
        defer { ahead = ahead.dropFirst(count) }
        return Array(ahead.prefix(count))
    }

    /// A reply without an address, which no program needs for CONNECT.
    private static func reply(_ code: UInt8) -> [UInt8] {
        [SOCKSMessages.version, code, 0, 1, 0, 0, 0, 0, 0, 0]
    }
}
