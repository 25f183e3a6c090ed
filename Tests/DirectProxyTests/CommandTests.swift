import CommandKit
import DirectCore
import DirectTestCommands
import DirectTestPeers
import Foundation
import Testing

@Suite("The program direct-proxy", .idleLimit)
struct ProxyCommandTests {
    @Test(
        "It ends with its program's status, or says in one line why there is none",
        arguments: [
            (["--quiet", "--", "sh", "-c", "exit 7"], 7, ""),
            (["--quiet", "--listen", "0", "--", "true"], 0, ""),
            (["--quiet", "--listen", "[::1]:0", "--", "true"], 0, ""),
            (["--quiet", "--", "sh", "-c", "kill -9 $$"], 137, ""),
            (["--", "/no/such/program"], 127, "direct-proxy: /no/such/program: No such file or directory\n"),
            (["--nonsense"], 64, "direct-proxy: there is no option --nonsense\n"),
            (["--resolve"], 64, "direct-proxy: --resolve needs a value\n"),
            (
                ["--resolve", "a:443"], 64,
                "direct-proxy: \"a:443\": the entry is not host:port:address[,address]\n"
            ),
            (
                ["--connect-to", "a.test:1:b.test:2"], 64,
                "direct-proxy: --connect-to a.test:1:b.test:2: \"b.test:2\" is no ADDR:PORT; names are not resolved here\n"
            ),
            (["--limit", "tunnels=0"], 64, "direct-proxy: --limit tunnels=0: it takes a number from 1\n"),
            (["--limit", "idle=-1"], 64, "direct-proxy: --limit idle=-1: it takes seconds\n"),
            (
                ["--limit", "idel=1"], 64,
                "direct-proxy: --limit idel=1: it takes NAME=NUMBER, and the names are tunnels, waiting, headBytes, head, dial, idle, halfClosed, drain\n"
            ),
            (["--"], 64, "direct-proxy: -- needs a program\n"),
            (["--report=", "--refuse-others"], 64, "direct-proxy: --report needs a value, which is empty\n"),
            (["--report", "", "--", "true"], 64, "direct-proxy: --report needs a value, which is empty\n"),
            (
                ["--report", "--refuse-others", "--", "true"], 64,
                "direct-proxy: --report needs a value; --report=--refuse-others takes --refuse-others for one\n"
            ),
            (
                ["--report", "--", "true"], 64,
                "direct-proxy: --report needs a value; --report=-- takes -- for one\n"
            ),
            (
                ["--proxy", "http://a.test:1", "--proxy", "http://b.test:1"], 64,
                "direct-proxy: --proxy is given twice\n"
            ),
            (["--open=yes"], 64, "direct-proxy: --open takes no value\n"),
            (
                ["--map", "/no/such/file"], 66,
                "direct-proxy: --map /no/such/file: No such file or directory\n"
            ),
            (
                ["--listen", "0.0.0.0:1"], 69,
                "direct-proxy: 0.0.0.0:1 is reached by other machines; add --listen-beyond-loopback for that\n"
            ),
        ] as [([String], Int32, String)]
    )
    func endings(_ words: [String], _ status: Int32, _ errors: String) async throws {
        let result = try await ProxyCommand.run(words)
        #expect(result.status == status)
        #expect(result.errors == errors)
        #expect(result.output == "")
    }

    @Test("A map with a fault is one line that names the file and the line")
    func mapFault() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("map-\(UUID()).txt").path
        try "# map\na.test:443:192.0.2.1\n\n192.0.2.2 b.test c.test\na:443:nonsense\n"
            .write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let result = try await ProxyCommand.run(["--map", path])
        #expect(result.status == 64)
        #expect(result.errors.hasPrefix("direct-proxy: \(path), line 5: "))
        #expect(result.errors.filter { $0 == "\n" }.count == 1)
        try "192.0.2.2 b.test\r192.0.2.3 c.test\r".write(toFile: path, atomically: true, encoding: .utf8)
        let old = try await ProxyCommand.run(["--map", path])
        #expect(old.errors == "direct-proxy: \(path), line 1: a carriage return within the line\n")
    }

    @Test("Its program finds the proxy in its environment, with credentials, and no exceptions from it")
    func environment() async throws {
        let result = try await ProxyCommand.run(
            [
                "--quiet", "--", "sh", "-c",
                "echo $https_proxy $HTTP_PROXY $all_proxy \"[$no_proxy$NO_PROXY]\"",
            ],
            environment: ["no_proxy": "example.com", "https_proxy": "http://other:1"]
        )
        let words = result.output.split(separator: " ")
        #expect(words.count == 4)
        #expect(Set(words.prefix(3)).count == 1)
        #expect(words.first?.hasPrefix("http://direct:") == true)
        #expect(words.last == "[]\n")
    }

    @Test(
        "A program reaches the map's address under its name, and what was dialled is told beside its output"
    )
    func curl() async throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/curl") else { return }
        let target = try Listener.atOwnAddress()
        async let result = ProxyCommand.run([
            "--resolve", "www.nowhere.test:80:\(target.address):\(target.port)", "--", "curl", "-s",
            "http://www.nowhere.test/path",
        ])
        let request = try await onOwnThread {
            let peer = try target.accept()
            let request = String(decoding: try peer.receive(), as: UTF8.self)
            try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            return request
        }
        #expect(request.hasPrefix("GET /path HTTP/1.1\r\nHost: www.nowhere.test\r\n"))
        #expect(try await result.output == "hello")
        #expect(
            try await result.errors.hasPrefix(
                "http www.nowhere.test:80 at \(target.address):\(target.port) (staticMap): "
            )
        )
    }
}
