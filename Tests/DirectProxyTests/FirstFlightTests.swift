import DirectCore
import DirectHello
import DirectIO
import DirectProxy
import DirectTestCommands
import DirectTestPeers
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite("The first flight of TLS", .idleLimit)
struct FirstFlightTests {
    @Test(
        "A ClientHello is read the same however it is cut, into pieces and into records",
        arguments: [1, 7, 5000]
    )
    func cuts(recordSize: Int) throws {
        let bytes = Self.hello("www.Nowhere.test", protocols: ["h2", "http/1.1"], recordSize: recordSize)
        for cut in 0...bytes.count {
            var flight = FirstFlight()
            let first = flight.add(Array(bytes[..<cut]).span)
            #expect((first == .needsMore) == (cut < bytes.count))
            let verdict = flight.add(Array(bytes[cut...] + [0x17]).span)
            guard case .hello(let hello) = verdict else { return #expect(Bool(false), "cut at \(cut)") }
            #expect(hello.serverName == "www.nowhere.test")
            #expect(hello.protocols == ["h2", "http/1.1"])
            #expect(!hello.hasEncryptedHello)
        }
    }

    @Test(
        "What is no ClientHello is known from the first bytes that cannot be one",
        arguments: [
            ([0x47], 0), ([0x15], 0), ([0x16, 0x02], 1), ([0x16, 3, 1, 0, 0], 4), ([0x16, 3, 1, 0x40, 1], 4),
            ([0x16, 3, 1, 0, 1, 2], 5), ([0x16, 3, 1, 0, 4, 1, 1, 0, 0], 8),
            ([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3], 9),
        ] as [([UInt8], Int)]
    )
    func others(_ bytes: [UInt8], _ position: Int) {
        var flight = FirstFlight()
        for (index, byte) in bytes.enumerated() {
            let verdict: FirstFlight.Verdict =
                bytes[0] == 0x47 ? .other : bytes.count == 6 ? .otherMessage : .unreadable
            #expect(flight.add([byte].span) == (index < position ? .needsMore : verdict))
        }
    }

    @Test("A hello without a name, and one with a pretended or real encrypted one, is read")
    func odd() throws {
        var flight = FirstFlight()
        guard case .hello(let hello) = flight.add(Self.hello(nil, hasECH: true).span) else {
            return #expect(Bool(false))
        }
        #expect(hello.serverName == nil)
        #expect(hello.hasEncryptedHello)
        // A name that ends beyond its list.
        var bad = Self.hello("a.test")
        let place = try #require(bad.firstRange(of: Array("a.test".utf8)))
        bad[place.lowerBound - 1] = 200
        flight = FirstFlight()
        #expect(flight.add(bad.span) == .unreadable)
    }

    @Test(
        "The name and the protocols are reported, and the bytes arrive unchanged",
        arguments: [true, false]
    )
    func reported(isEarly: Bool) async throws {
        let stage = try Stage()
        let hello = Self.hello("other.test", protocols: ["h2"], recordSize: 9)
        let program = try stage.program()
        let head = Array("CONNECT \(Stage.name) HTTP/1.1\r\n\r\n".utf8)
        try program.send(head + (isEarly ? hello : []))
        let far = try stage.target.accept()
        if !isEarly { try program.send(hello) }
        #expect(try far.receive(exactly: hello.count) == hello)
        program.finishSending()
        far.finishSending()
        let report = try #require(await stage.reports(1).first)
        #expect(report.serverName == "other.test")
        #expect(report.protocols == ["h2"])
        #expect(report.ending == .complete)
    }

    @Test(
        "Where names must match, another one ends the tunnel with an alert before a byte is sent on",
        arguments: [true, false]
    )
    func mismatch(isEarly: Bool) async throws {
        let stage = try Stage { configuration, _ in configuration.serverNames = .matching }
        let hello = Self.hello("other.test")
        let program = try stage.program()
        let head = Array("CONNECT \(Stage.name) HTTP/1.1\r\n\r\n".utf8)
        try program.send(head + (isEarly ? hello : Array(hello.prefix(20))))
        let far = try stage.target.accept()
        _ = try program.receive(exactly: 39)
        if !isEarly { try program.send(Array(hello.dropFirst(20))) }
        #expect(try program.receive(exactly: 7) == [21, 3, 3, 0, 2, 2, 112])
        #expect(throws: (any Error).self) {
            guard try !far.receive().isEmpty else { throw CancellationError() }
        }
        guard case .refused(403, _) = await stage.reports(1).first?.ending else {
            return #expect(Bool(false))
        }
    }

    @Test("Where names must match, the right one passes, no TLS passes, and a target may speak first")
    func match() throws {
        let stage = try Stage { configuration, _ in configuration.serverNames = .matching }
        for first in [
            Self.hello("www.nowhere.test", recordSize: 30), Self.hello(nil), Array("EHLO x\r\n".utf8),
        ] {
            let (program, far) = try stage.tunnel()
            try far.send("220")
            #expect(try program.text(3) == "220")
            for byte in first { try program.send([byte]) }
            #expect(try far.receive(exactly: first.count) == first)
        }
    }

    @Test("Where names must match, they are read however the ClientHello is cut", arguments: [true, false])
    func cutNames(isRight: Bool) throws {
        let stage = try Stage { configuration, _ in configuration.serverNames = .matching }
        let hello = Self.hello(isRight ? "www.nowhere.test" : "evil.nowhere.test")
        for cut in 1..<hello.count {
            let program = try stage.program()
            try program.send(Array("CONNECT \(Stage.name) HTTP/1.1\r\n\r\n".utf8) + hello[..<cut])
            let far = try stage.target.accept()
            _ = try program.receive(exactly: 39)
            try program.send(Array(hello[cut...]))
            if isRight {
                #expect(try far.receive(exactly: hello.count) == hello)
            } else {
                #expect(try program.receive(exactly: 7) == [21, 3, 3, 0, 2, 2, 112], "cut at \(cut)")
            }
        }
    }

    @Test(
        "Where names must match, those of a second ClientHello must as well, until the handshake goes on",
        arguments: [
            ([], false), ([20, 3, 3, 0, 1, 1], false), ([23, 3, 3, 0, 2, 22, 3], false),
            ([22, 3, 3, 0, 5, 16, 0, 0, 1, 7], true),
        ] as [([UInt8], Bool)]
    )
    func second(between: [UInt8], isSeenNoMore: Bool) throws {
        let stage = try Stage { configuration, _ in configuration.serverNames = .matching }
        let first = Self.hello("www.nowhere.test", recordSize: 50)
        for (name, passes) in [("www.nowhere.test", true), ("evil.test", isSeenNoMore)] {
            let second = Self.hello(name)
            let (program, far) = try stage.tunnel()
            try program.send(first)
            #expect(try far.receive(exactly: first.count) == first)
            for byte in between { try program.send([byte]) }
            try program.send(second)
            if passes {
                #expect(try far.receive(exactly: between.count + second.count) == between + second)
            } else {
                #expect(try program.receive(exactly: 7) == [21, 3, 3, 0, 2, 2, 112])
            }
        }
    }

    @Test(
        "Where names must match, what begins like TLS and cannot be read ends the tunnel with an alert",
        arguments: [
            [22, 3, 1, 0, 0] + hello("www.nowhere.test"), [21, 3, 1, 0, 2, 1, 90] + hello("evil.test"),
            [22, 2, 0] + hello("evil.test").dropFirst(3), hello("evil.test", padding: 33000),
            Array(hello("www.nowhere.test").dropLast()),
        ]
    )
    func unreadable(_ first: [UInt8]) throws {
        let stage = try Stage { configuration, _ in configuration.serverNames = .matching }
        let (program, far) = try stage.tunnel()
        try program.send(first)
        program.finishSending()
        #expect(try program.receive(exactly: 7) == [21, 3, 3, 0, 2, 2, 112])
        #expect(throws: SystemError("recv", code: ECONNRESET)) { try far.receive() }
    }

    @Test("Where names must match, a second message that cannot be read is no other name")
    func unreadableSecond() async throws {
        let stage = try Stage { configuration, _ in configuration.serverNames = .matching }
        let (program, far) = try stage.tunnel()
        let first = Self.hello("www.nowhere.test")
        try program.send(first)
        #expect(try far.receive(exactly: first.count) == first)
        try program.send([22, 3, 1, 0, 0])
        #expect(try program.receive(exactly: 7) == [21, 3, 3, 0, 2, 2, 112])
        let report = try #require(await stage.reports(1).first)
        #expect(report.ending == .refused(403, "the server's name in the program's TLS cannot be read"))
        #expect(report.serverName == "www.nowhere.test")
    }

    /// The records of a ClientHello.
    private static func hello(
        _ name: String?,
        protocols: [String] = [],
        hasECH: Bool = false,
        padding: Int = 0,
        recordSize: Int = 16384
    ) -> [UInt8] {
        func vector(_ size: Int, _ bytes: [UInt8]) -> [UInt8] {
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) } + bytes
        }
        var extensions: [UInt8] = [0, 23, 0, 0]
        if let name { extensions += [0, 0] + vector(2, vector(2, [0] + vector(2, Array(name.utf8)))) }
        if !protocols.isEmpty {
            extensions += [0, 16] + vector(2, vector(2, protocols.flatMap { vector(1, Array($0.utf8)) }))
        }
        if padding > 0 { extensions += [0, 21] + vector(2, [UInt8](repeating: 0, count: padding)) }
        if hasECH { extensions += [0xFE, 0x0D] + vector(2, [1, 2, 3]) }
        let random = [UInt8](repeating: 7, count: 32)
        let body =
            [3, 3] + random + vector(1, random) + vector(2, [0x13, 1]) + vector(1, [0])
            + vector(2, extensions)
        let message = [1] + vector(3, body)
        return stride(from: 0, to: message.count, by: recordSize).flatMap { start in
            [22, 3, 1] + vector(2, Array(message[start..<min(start + recordSize, message.count)]))
        }
    }
}
