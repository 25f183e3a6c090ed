import DirectCore
import DirectIO
import DirectTLS
import DirectTestCommands
import DirectTestPeers
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The program while it serves, at a port that the system has chosen.
private final class Serving: Sendable {
    private let program: RunningProgram
    private let port: UInt16

    init(_ arguments: [String]) throws {
        program = try RunningProgram(
            arguments + ["--listen", "127.0.0.1:0"],
            wrapper: ["/bin/sh", "-c", #"exec "$@" 2>&1"#, "sh"]
        )
        let line = try program.readLine()
        port = try #require(line.split(separator: ":").last.flatMap { UInt16($0.dropLast()) }, "\(line)")
    }

    func connect() throws -> Peer {
        #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        let address = try #require(IPAddress("127.0.0.1"))
        let code = try address.withSocketAddress(port: port) { Foundation.connect(descriptor, $0, $1) }
        #expect(code == 0)
        return Peer(descriptor: descriptor)
    }

    /// The whole answer to these bytes.
    func answer(to text: String) throws -> String {
        let peer = try connect()
        try peer.send(text)
        return try rest(of: peer)
    }

    func rest(of peer: Peer) throws -> String {
        var all: [UInt8] = []
        while case let more = try peer.receive(), !more.isEmpty { all += more }
        return String(decoding: all, as: UTF8.self)
    }

    func get(_ path: String, _ fields: String = "") throws -> String {
        try answer(to: "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields)\r\n")
    }

    /// Stops it, and returns its exit code.
    func stop() -> Int32 {
        program.interrupt()
        return program.finish().code
    }
}

@Suite("Serving metrics")
struct ListenTests {
    private let root = TestAuthority()

    /// Serves with the root of the tests in a file.
    private func serve(_ arguments: [String], _ body: @escaping @Sendable (Serving) throws -> Void)
        async throws
    {
        let file = NSTemporaryDirectory() + "listen-\(UUID().uuidString).pem"
        try root.rootPEM.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await onOwnThread {
            // Comparisons have a second, which a busy machine may need for anything.
            let serving = try Serving(["--ca", file, "--skip-default"] + arguments)
            let result = Result { try body(serving) }
            #expect(serving.stop() == 0)
            try result.get()
        }
    }

    private func status(_ answer: String) -> Substring? { answer.split(separator: " ").dropFirst().first }

    @Test("A scrape of a listed target has the metrics of blackbox_exporter and those of each IP")
    func listedTarget() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        let word = "a.test@\(server.authority)"
        try await serve([word, "https://a.test/@\(server.authority)"]) { serving throws in
            let good = try serving.get("/probe?target=\(word.replacing(":", with: "%3A"))&module=tls")
            #expect(good.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(good.contains("\nprobe_success 1\n"))
            #expect(good.contains("\nprobe_ssl_earliest_cert_expiry "))
            #expect(good.contains(#"sni_probe_success{host="a.test",ip="127.0.0.1","#))
            // Without IPs a request means those of the list.
            #expect(try serving.get("/probe?target=a.test").contains("\nprobe_success 1\n"))
            let page = try serving.get("/probe?target=https://a.test/&module=http_2xx")
            #expect(page.contains("\nprobe_http_status_code 200\n"))
            let head = try serving.answer(to: "HEAD /metrics HTTP/1.1\r\nHost: localhost:1\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 200") && head.hasSuffix("\r\n\r\n"))
        }
    }

    @Test("A target that is not on the list is not connected to, nor is another IP or port of one that is")
    func unlistedTarget() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        let inner = try Listener.atOwnAddress()
        try await serve(["a.test@\(server.authority)"]) { serving throws in
            let place = "\(inner.address):\(inner.port)"
            for target in [
                place, "a.test@\(place)", "a.test:\(inner.port)", "a.test@\(server.authority),\(place)",
                "http://\(place)/", "http://a.test/@\(place)", "https://a.test/@\(server.authority)",
            ] {
                #expect(try status(serving.get("/probe?target=\(target)")) == "403", "\(target)")
            }
            #expect(try status(serving.get("/probe?target=@\(place)")) == "400")
            #expect(try status(serving.get("/probe?target=a.test&module=smtp@x")) == "400")
        }
        // Only what has connected by now would be accepted.
        inner.stop()
        #expect(throws: (any Error).self) { _ = try inner.accept() }
    }

    @Test("Option --listen-any allows other targets, with few IPs, and nothing secret to show to them")
    func anyTarget() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        try await serve(["--listen-any"]) { serving throws in
            let good = try serving.get("/probe?target=a.test@\(server.authority)")
            #expect(good.contains("\nprobe_success 1\n"))
            #expect(try status(serving.get("/probe?target=a.test@127.0.0.0/24")) == "400")
            #expect(try serving.get("/metrics").contains("sni_probe_answers_total{code=\"400\"} 1\n"))
        }
        let secret = ["--listen", "127.0.0.1:0", "--listen-any", "-H", "Authorization: x"]
        #expect(throws: UsageError.self) { try Options(secret) }
    }

    private func file(_ text: String) throws -> String {
        let path = NSTemporaryDirectory() + "modules-\(UUID().uuidString)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test(
        "A module of the file probes with its options, beside the built-in ones, and every other is refused"
    )
    func ownModules() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        let file = try file(
            "# ours\n\nlate:  --critical-days 36500\npq: --post-quantum --timeout 9s # both\n"
        )
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await serve(["a.test@\(server.authority)", "--modules", file]) { serving throws in
            #expect(try serving.get("/probe?target=a.test&module=late").contains("\nprobe_success 0\n"))
            #expect(try serving.get("/probe?target=a.test").contains("\nprobe_success 1\n"))
            #expect(try serving.get("/probe?target=a.test&module=pq").contains("form=\"X25519MLKEM768\""))
            #expect(try status(serving.get("/probe?target=a.test&module=early")) == "400")
        }
    }

    @Test(
        "A file of modules that cannot be used is refused with the line",
        arguments: [
            "late --strict", "late: --strict\nlate: --deep", "a: b.test", "a: --ca x", "a: --header A:b",
            "a: --cert x",
            "a: --listen 127.0.0.1:1", "a: --warn-days 1 --critical-days 2", ": --strict", "a: --timeout",
        ]
    )
    func badModules(_ text: String) throws {
        let file = try file("\n" + text)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let options = try Options(["a.test", "--listen", "127.0.0.1:1", "--modules", file])
        do throws(UsageError) {
            _ = try Modules.read(file, for: options)
            Issue.record("\(text) was taken")
        } catch {
            let line = text.contains("\n") ? 3 : 2
            #expect(error.what.hasPrefix("\(file):\(line): ") && !error.what.contains("\n"))
        }
        #expect(throws: UsageError.self) { try Options(["a.test", "--modules", file]) }
    }

    @Test(
        "A module does not lead to another port of a listed host, and is refused if it is none or for hosts"
    )
    func modules() throws {
        let options = try Options([
            "--listen", "127.0.0.1:1", "a.test@127.0.0.1", "https://b.test/", "c.test",
        ])
        let listed = try ListedTargets(options)
        var upgraded = options
        upgraded.settings.upgrade = .smtp
        for name in ["a.test", "c.test"] {
            upgraded.words = [try listed.word(for: name, options)]
            switch try ProbeFeed(upgraded).step() {
            case .probe(let probe): #expect(probe.port == 443)
            case .resolve(let target): #expect(target.port == 443)
            default: Issue.record("no target")
            }
        }
        #expect(throws: ServedReply.self) { try listed.word(for: "c.test:25", options) }
        #expect(throws: ServedReply.self) { try listed.word(for: "b.test", options) }
    }

    @Test("A scrape ends within the time that Prometheus waits, with what is known by then")
    func patience() async throws {
        let silent = try Listener()
        try await serve(["a.test@127.0.0.1:\(silent.port)", "--timeout", "24h"]) { serving throws in
            var late = ""
            // A busy machine may take longer than the first time until there is a connection, or a result.
            for seconds in [1, 4, 16] where !late.contains("fault=") {
                late = try serving.get(
                    "/probe?target=a.test",
                    "X-Prometheus-Scrape-Timeout-Seconds: \(seconds)\r\n"
                )
                #expect(late.contains("\nprobe_success 0\n") || status(late) == "503")
            }
            #expect(late.contains(#"fault="timeout_tls"} 1"#))
        }
    }

    @Test("A request whose turn has not come when Prometheus gives up is answered then", .idleLimit)
    func waitsInVain() async throws {
        let silent = try Listener()
        let arguments = ["a.test@127.0.0.1:\(silent.port)", "--timeout", "24h", "--jobs", "1"]
        try await serve(arguments) { serving throws in
            let first = try serving.connect()
            try first.send("GET /probe?target=a.test HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            // The round of the list, and the request, which has the only thread.
            let probes = try (0..<2).map { _ in try silent.accept() }
            let late = try serving.get(
                "/probe?target=a.test",
                "X-Prometheus-Scrape-Timeout-Seconds: 1\r\n"
            )
            #expect(status(late) == "503")
            withExtendedLifetime((first, probes)) {}
        }
    }

    @Test("A probe has most of the time that Prometheus waits, or half if something takes as much again")
    func timeOfProbe() throws {
        let options = try Options(["--listen-any", "--listen", "127.0.0.1:0", "--timeout", "1h"])
        for (arguments, least) in [([], 8.0), (["--post-quantum"], 4), (["--revocation"], 4)] {
            let all = try options.with(module: arguments)
            let service = try ProbeService(all, context: ContextSource.make(ProbeSettings()))
            let head =
                "GET /probe?target=a.test@127.0.0.1 HTTP/1.1\r\nHost: a\r\n"
                + "X-Prometheus-Scrape-Timeout-Seconds: 10"
            let request = try ServedRequest(head: Array(head.utf8)[...], names: ["a"])
            let time = try service.options(for: request).settings.timeout
            #expect(time > .seconds(least) && time < .seconds(least + 1), "\(arguments)")
        }
    }

    @Test("A probe to which others have left no time says nothing of its target")
    func noTime() throws {
        let console = Console(isTerminal: false, errorsAreTerminal: false, usesColor: false, unicode: true)
        var surroundings = Run.Surroundings(alarm: Alarm(), console: console)
        surroundings.end = .now
        let output = ScrapeOutput()
        _ = try Run(try Options(["a.test@127.0.0.1:1"]), to: output, in: surroundings).run()
        #expect(output.text == nil)
    }

    @Test("Heads that never end, connections without a request and too many probes are refused")
    func limits() async throws {
        let silent = try Listener()
        let arguments = ["a.test@127.0.0.1:\(silent.port)", "--timeout", "24h", "--jobs", "1"]
        try await serve(arguments) { serving throws in
            let endless = try serving.answer(
                to: "GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 9000)
            )
            #expect(status(endless) == "431")
            // The oldest of the idle connections gives way.
            let idle = try (0..<Responder.mostConnections).map { _ in try serving.connect() }
            #expect(try status(serving.get("/")) == "200")
            #expect(try serving.rest(of: idle[0]).isEmpty)
            idle.forEach { $0.finishSending() }
            // One is probed, 64 wait.
            let request = "GET /probe?target=a.test HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            let probes = try (0..<66).map { _ in try serving.connect() }
            for probe in probes { try probe.send(request) }
            var answers: [Int32: Substring?] = [:]
            var list = probes.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            #expect(poll(&list, nfds_t(list.count), 20_000) > 0)
            for probe in probes where list.contains(where: { $0.fd == probe.descriptor && $0.revents != 0 }) {
                answers[probe.descriptor] = status(try serving.rest(of: probe))
            }
            #expect(!answers.isEmpty && answers.values.allSatisfy { $0 == "503" })
        }
    }

    @Test(
        "A request that is not for this server, or not plain HTTP/1.1, is refused",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: evil.example", 421),
            ("GET / HTTP/1.1\r\nHost: localhost.evil.example", 421),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example:80", 421), ("GET / HTTP/1.1", 400),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: cross-site", 403),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: 127.0.0.1", 400),
            ("POST / HTTP/1.1\r\nHost: 127.0.0.1", 405),
            ("CONNECT a:1 HTTP/1.1\r\nHost: 127.0.0.1", 405),
            ("GET http://a/ HTTP/1.1\r\nHost: 127.0.0.1", 400),
            ("GET / HTTP/2\r\nHost: 127.0.0.1", 505), ("GET  / HTTP/1.1\r\nHost: 127.0.0.1", 400),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n b: c", 400), ("GET / HTTP/1.1\nHost: 127.0.0.1", 400),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nA: b\nC: d", 400),
            ("GET /?a=%4 HTTP/1.1\r\nHost: 127.0.0.1", 400),
            ("GET /?a=1&a=2 HTTP/1.1\r\nHost: 127.0.0.1", 400),
            ("GET /?a=%FF HTTP/1.1\r\nHost: 127.0.0.1", 400),
            ("GET /\u{0} HTTP/1.1\r\nHost: 127.0.0.1", 400), ("", 400),
        ]
    )
    func refusals(_ head: String, _ status: Int) {
        do throws(ServedReply) {
            _ = try ServedRequest(head: Array(head.utf8)[...], names: ["localhost"])
            Issue.record("accepted")
        } catch {
            #expect(error.status == status)
        }
    }

    @Test("A list without a target is an error, unless requests may name others")
    func emptyList() throws {
        let file = NSTemporaryDirectory() + "listen-\(UUID().uuidString).txt"
        try "# none\n".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let arguments = ["--listen", "127.0.0.1:0", "-f", file]
        let context = ContextSource.make(ProbeSettings())
        #expect(throws: UsageError.noTargets) {
            try ProbeService(try Options(arguments), context: context)
        }
        _ = try ProbeService(try Options(arguments + ["--listen-any"]), context: context)
    }

    @Test("A port that another program listens at is a usage error in the words of other errors")
    func occupied() throws {
        let other = try Listener()
        let place = try Endpoint("127.0.0.1:\(other.port)")
        #expect {
            try Responder.listener(at: place)
        } throws: { error in
            (error as? UsageError)?.what == "--listen \(place): \(Words.system(EADDRINUSE))"
        }
        #expect(Words.system(EADDRINUSE).first?.isLowercase == true)
    }

    @Test("A request for an IP, localhost or a given name is accepted, and its query decoded")
    func requests() throws {
        for host in ["[::1]:9115", "192.0.2.1:9115", "LOCALHOST.", "probe.example:9115"] {
            let head =
                "GET /probe?target=https%3A%2F%2Fa.test%2f%3Fq&module=tls HTTP/1.1\r\nHost: \(host)\r\nA: b"
            let request = try ServedRequest(
                head: Array(head.utf8)[...],
                names: ["localhost", "probe.example"]
            )
            #expect(request.path == "/probe")
            #expect(request.query == ["target": "https://a.test/?q", "module": "tls"])
        }
    }

    @Test(
        "Options that make no sense beside --listen are refused",
        arguments: [
            ["--listen-any", "a.test"], ["--listen", "9115", "a.test"], ["--listen", "a.test:1", "a.test"],
            ["--listen", "127.0.0.1", "a.test"], ["--listen", "127.0.0.1:1"],
            ["--listen", "127.0.0.1:1", "-f", "-"],
            ["--listen", "127.0.0.1:1", "-q", "a.test"], ["--listen", "127.0.0.1:1", "--json", "a.test"],
        ]
    )
    func mistakes(_ arguments: [String]) {
        #expect(throws: UsageError.self) { try Options(arguments) }
    }

    @Test("What an address serves without SNI is confirmed once for all requests of one moment", .idleLimit)
    func sharedDefault() async throws {
        let (lab, names) = (try Lab(), (0..<6).map { "n\($0).test" })
        let server = try lab.server(
            try lab.issuer.issue(CertificateProfile(names.map { .dns($0) }, commonName: "n0.test"))
        )
        var options = try Options(["--listen", "127.0.0.1:0", "--listen-any"])
        options.settings.roots = .only([.pem(Array(lab.root.rootPEM.utf8))])
        // Nothing ends early on a busy machine.
        (options.settings.timeout, options.settings.comparisonTime) = (.seconds(3600), .seconds(3600))
        let service = try ProbeService(options, context: ContextSource.make(options.settings))
        try await withThrowingTaskGroup(of: String.self) { group in
            for name in names {
                let target = "\(name)@\(server.authority)".replacing(":", with: "%3A")
                let head = "GET /probe?target=\(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
                let request = try ServedRequest(head: Array(head.utf8)[...], names: [])
                group.addTask { try await service.answer(request).body }
            }
            for try await text in group { #expect(text.contains("sni_probe_sni_needed")) }
        }
        // Two for each, and six that confirm.
        #expect(server.records.count == 2 * names.count + 6)
    }

    @Test("Requests and rounds of one moment leave each other's handshakes at an address alone", .idleLimit)
    func oneMoment() async throws {
        let (lab, names) = (try Lab(), (0..<6).map { "n\($0).test" })
        let right = try lab.issuer.issue(CertificateProfile(names.map { .dns($0) }, commonName: "n0.test"))
        let servers = [
            try lab.server(right), try FixtureServer.start(.tls(lab.standard)) { _ in .text("") },
        ]
        let relay = try DialogueRelay(inTurn: servers.map(\.port), connections: 1000)
        let words = names.map { "\($0)@127.0.0.1:\(relay.port)" }
        var options = try Options(words + ["--listen", "127.0.0.1:0", "--watch", "24h"])
        options.settings.roots = .only([.pem(Array(lab.root.rootPEM.utf8))])
        // Nothing ends early on a busy machine.
        (options.settings.timeout, options.settings.comparisonTime) = (.seconds(3600), .seconds(3600))
        let service = try ProbeService(options, context: ContextSource.make(options.settings))
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for word in words {
                let target = word.replacing(":", with: "%3A")
                let head = "GET /probe?target=\(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
                let request = try ServedRequest(head: Array(head.utf8)[...], names: [])
                group.addTask { try await service.answer(request).body }
            }
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        for text in texts {
            #expect(text.contains("fault=\"answers_vary\""), "\(text)")
            #expect(!text.contains("sni_probe_sni_needed"))
        }
        withExtendedLifetime(servers) {}
    }
}
