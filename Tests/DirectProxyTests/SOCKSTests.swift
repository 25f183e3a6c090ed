import DirectCore
import DirectHTTP
import DirectProxy
import DirectTestCommands
import DirectTestPeers
import Testing

@Suite("SOCKS at the proxy", .idleLimit)
struct SOCKSTests {

    @Test("A name gets a tunnel, and what comes behind the request is the tunnel's")
    func name() async throws {
        let stage = try Stage()
        let program = try stage.program()
        try program.send([5, 2, 1, 0])
        #expect(try program.receive(exactly: 2) == [5, 0])
        try program.send([5, 1, 0] + nowhere + Array("early".utf8))
        let far = try stage.target.accept()
        #expect(try program.receive(exactly: 10) == [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        #expect(try far.text(5) == "early")
        program.finishSending()
        far.finishSending()
        let report = try #require(await stage.reports(1).first)
        #expect(report.road == .socks)
        #expect(report.target == "www.nowhere.test:443")
    }

    @Test("A program that has to go for others before its request is not answered in HTTP")
    func crowded() async throws {
        let stage = try Stage { configuration, _ in configuration.limits.waiting = 1 }
        let program = try stage.program()
        try program.send([5, 1, 0])
        #expect(try program.receive(exactly: 2) == [5, 0])
        _ = try stage.tunnel()
        #expect(throws: (any Error).self) { try program.receive(exactly: 1) }
        #expect(await stage.reports(1).first?.road == .socks)
    }

    @Test("An address is dialled as it is, if the vetting allows it", arguments: [true, false])
    func address(isAllowed: Bool) throws {
        let stage = try Stage { configuration, _ in if isAllowed { configuration.vetting = nil } }
        let program = try stage.program()
        let port = [UInt8(stage.target.port >> 8), UInt8(stage.target.port & 0xFF)]
        try program.send([5, 1, 0, 5, 1, 0, 1] + stage.target.address.bytes + port)
        #expect(try program.receive(exactly: 4) == [5, 0, 5, isAllowed ? 0 : 2])
    }

    @Test("The user and the password are required and compared")
    func password() throws {
        let stage = try Stage { configuration, _ in configuration.access = .credentials }
        let credentials = try #require(stage.proxy.credentials)
        let user = Array(credentials.user.utf8)
        for (password, isRight) in [(credentials.password, true), ("wrong", false), ("", false)] {
            let program = try stage.program()
            let login = [1, UInt8(user.count)] + user + [UInt8(password.utf8.count)] + Array(password.utf8)
            try program.send([5, 2, 0, 2] + login + (isRight ? [5, 1, 0] + nowhere : []))
            #expect(try program.receive(exactly: 4) == [5, 2, 1, isRight ? 0 : 1])
            if isRight {
                #expect(try program.receive(exactly: 2) == [5, 0])
            } else {
                #expect(try program.rest() == "")
            }
        }
        let program = try stage.program()
        try program.send([5, 1, 0])
        #expect(try program.rest() == String(decoding: [5, 0xFF] as [UInt8], as: UTF8.self))
    }

    @Test(
        "What it cannot do is refused with its code",
        arguments: [
            ([5, 2, 0] + nowhere, 7), ([5, 3, 0] + nowhere, 7),
            ([5, 1, 0, 3, 4] + Array("a@b:".utf8) + [1, 187], 1),
            ([5, 1, 0, 3, 6] + Array("a.test".utf8) + [0, 0], 1),
            ([5, 1, 0, 3, 9] + Array("127.0.0.1".utf8) + [0, 80], 2),
            ([5, 1, 0, 3, 9] + Array("none.test".utf8) + [0, 80], 4),
            ([5, 1, 0, 4] + [UInt8](repeating: 0, count: 15) + [1, 0, 80], 2),
        ] as [([UInt8], UInt8)]
    )
    func refused(request: [UInt8], code: UInt8) async throws {
        let stage = try Stage { configuration, _ in
            configuration.resolver = ClosedResolver()
        }
        let program = try stage.program()
        try program.send([5, 1, 0] + request)
        #expect(try program.receive(exactly: 4) == [5, 0, 5, code])
    }
}

/// The address of a request for the map's name, and port 443.
private let nowhere: [UInt8] = [3, 16] + Array("www.nowhere.test".utf8) + [1, 187]

/// Knows no name.
private struct ClosedResolver: Resolver {
    let name = "closed"

    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        throw ResolverError(name, .noSuchName)
    }
}
