import DirectTestCommands
import TLSFixtures
import Testing

@testable import tls_fixtures

@Suite("The proxy for clients that cannot be told an address", .idleLimit)
struct JobProxyTests {
    @Test("Hosts with exactly one address are connected, whatever their case and with or without a dot")
    func routes() throws {
        var job = Job(topic: "names", vector: "a: one", roots: "", requests: [])
        #expect(JobProxy.start(for: job) == nil)
        job.routes = [Job.Route(host: "a.test", port: 1, addresses: ["127.0.0.2:1", "127.0.0.3:1"])]
        #expect(JobProxy.start(for: job) == nil)
        job.routes = [Job.Route(host: "a.test", port: 1, addresses: ["127.0.0.2:1"])]
        #expect(JobProxy.start(for: job) != nil)
    }

    @Test("A second connection is served while the first is open")
    func together() async throws {
        let server = try FixtureServer.start(.plain) { _ in .text("hello").then(.close) }
        var job = Job(topic: "names", vector: "a: one", roots: "", requests: [])
        job.routes = [Job.Route(host: "a.test", port: 1, addresses: [server.authority])]
        let proxy = try #require(JobProxy.start(for: job))
        // The first connection is idle: opened through the proxy, and without a request.
        let script = """
            ask() { printf 'CONNECT a.test:1 HTTP/1.1\\r\\n\\r\\n' >&"$1"; read -r line <&"$1"; read -r empty <&"$1"; }
            exec 3<>/dev/tcp/127.0.0.1/\(proxy.port); ask 3
            exec 4<>/dev/tcp/127.0.0.1/\(proxy.port); ask 4
            printf 'GET / HTTP/1.1\\r\\nHost: a.test\\r\\n\\r\\n' >&4; cat <&4
            """
        let outcome = await onThread {
            ShellCommand.run("bash -c \(Shell.quoted(script))", within: .seconds(60))
        }
        #expect(outcome.ending == .exited(0))
        #expect(String(decoding: outcome.output, as: UTF8.self).hasSuffix("\r\n\r\nhello"))
        withExtendedLifetime(proxy) {}
    }
}
