import CommandKit
import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestPeers
import Foundation
import Testing

@Suite("Runs of direct-proxy", .idleLimit)
struct CommandRunTests {
    @Test(
        "What its parent has set is no harm to it, and its program finds it",
        arguments: [
            // By Perl, since Debian's sh does not pass an ignored SIGCHLD on.
            (#"set -- perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "$@""#, "exit 7", 7, ""),
            ("ulimit -Sn 512", "ulimit -Sn", 0, "512\n"),
            // Its descriptors, and none of the proxy's own (proc(5)).
            (
                "exec 3</dev/null; export ALONE=\"$(exec ls /proc/self/fd)\"",
                "[ \"$(exec ls /proc/self/fd)\" = \"$ALONE\" ] && readlink /proc/self/fd/3", 0, "/dev/null\n"
            ),
            (
                "set -- \"$@\" \"$(printf 'c\\377d')\"; A=$(printf 'a\\377b'); export A",
                "printf %s \"$A$1\" | od -An -tx1", 0, " 61 ff 62 63 ff 64\n"
            ),
        ] as [(String, String, Int32, String)]
    )
    func inheritance(_ prelude: String, _ program: String, _ status: Int32, _ output: String) async throws {
        let result = try await ProxyCommand.run(
            ["--quiet", "--", "sh", "-c", program, "name"],
            after: prelude
        )
        #expect(result.status == status)
        #expect(result.output == output)
    }

    #if os(Linux)
    @Test("A standard descriptor that its parent has closed becomes none of the proxy's own")
    func closedDescriptor() async throws {
        let result = try await ProxyCommand.run(
            ["--quiet", "--", "sh", "-c", "readlink /proc/$$/fd/0"],
            after: "exec 0<&-"
        )
        #expect(result.output == "/dev/null\n")
    }
    #endif

    @Test("A script without a first line is run by the shell", arguments: [true, false])
    func script(byPath: Bool) async throws {
        let (folder, name) = (FileManager.default.temporaryDirectory.path, "script-\(UUID())")
        let path = "\(folder)/\(name)"
        try "echo ran $1\n".write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let result = try await ProxyCommand.run(
            ["--quiet", "--", byPath ? path : name, "well"],
            environment: ["PATH": "/usr/bin:/bin:\(folder)"]
        )
        #expect(result.output == "ran well\n")
    }

    @Test("A hang-up that it was started to ignore does not end it")
    func hangUp() async throws {
        try await onOwnThread {
            let command = try ProxyCommand([], after: "trap '' HUP")
            let endpoint = try command.endpoint()
            command.process.send(SIGHUP)
            // It would have ended before all of these are answered.
            for _ in 0..<50 {
                #expect(try ProxyCommand.answer("x\r\n\r\n", at: endpoint).hasPrefix("HTTP/1.1 400"))
            }
            command.process.terminate()
            #expect(command.process.waitForEnd() == 0)
        }
    }

    @Test("A signal for it alone goes to its program", arguments: ["INT", "TERM", "QUIT", "USR1", "USR2"])
    func signals(_ name: String) async throws {
        let program = """
            sleep 600 >/dev/null 2>&1 &
            trap "kill $!; exit 9" \(name)
            kill -\(name) $PPID
            wait
            """
        #expect(try await ProxyCommand.run(["--quiet", "--", "sh", "-c", program]).status == 9)
    }

    @Test("A second signal breaks the open tunnels off, and they are reported")
    func secondSignal() async throws {
        try await onOwnThread {
            let target = try Listener.atOwnAddress()
            let command = try ProxyCommand([
                "--open", "--limit", "drain=3600", "--report", "-",
                "--connect-to", "::\(target.address):\(target.port)",
            ])
            let endpoint = try command.endpoint()
            let program = try Peer.connected(to: endpoint)
            try program.send("CONNECT www.nowhere.test:443 HTTP/1.1\r\n\r\n")
            let far = try target.accept()
            #expect(try program.text(39).hasPrefix("HTTP/1.1 200"))
            command.process.terminate()
            // Once it listens no more, it waits.
            while (try? Peer.connected(to: endpoint)) != nil {}
            command.process.terminate()
            for peer in [program, far] {
                #expect(throws: SystemError("recv", code: ECONNRESET)) { try peer.receive() }
            }
            let reports = String(decoding: command.errors.readDataToEndOfFile(), as: UTF8.self)
            #expect(reports.contains("0 bytes sent, 0 received, stopped after "))
            #expect(command.process.waitForEnd() == 0)
        }
    }

    #if os(Linux)
    private static let hasStrace = FileManager.default.isExecutableFile(atPath: "/usr/bin/strace")

    @Test(
        "A system that has no memory for a moment ends no tunnel",
        .enabled(if: hasStrace),
        arguments: [("sendto", 2, 5), ("splice", 1, 500_000), ("splice", 2, 500_000)]
    )
    func shortage(_ call: String, _ number: Int, _ size: Int) async throws {
        try await onOwnThread {
            let target = try Listener.atOwnAddress()
            let fault = "-e trace=\(call) -e inject=\(call):error=ENOBUFS:when=\(number)"
            let command = try ProxyCommand(
                ["--open", "--allow-private", "--report", "-"],
                after: "set -- strace -D -f -qq -o /dev/null \(fault) \"$@\""
            )
            let program = try Peer.connected(to: try command.endpoint())
            try program.send("CONNECT \(target.address):\(target.port) HTTP/1.1\r\n\r\n")
            let far = try target.accept()
            #expect(try program.text(39).hasPrefix("HTTP/1.1 200"))
            try program.send([UInt8](repeating: 7, count: size))
            #expect(try far.receive(exactly: size).count == size)
            program.finishSending()
            far.finishSending()
            #expect(try program.rest() == "")
            command.process.terminate()
            let reports = String(decoding: command.errors.readDataToEndOfFile(), as: UTF8.self)
            #expect(reports.contains(": \(size) bytes sent, 0 received, complete after "))
            #expect(command.process.waitForEnd() == 0)
        }
    }
    #endif

    @Test("Reports that nobody reads stop nothing, and how many are missing is told once they are read")
    func unreadReports() async throws {
        try await onOwnThread {
            let command = try ProxyCommand(["--open", "--refuse-others", "--report", "-", "--json"])
            let endpoint = try command.endpoint()
            let name = Array(repeating: String(repeating: "a", count: 60), count: 4).joined(separator: ".")
            // Far more than a pipe holds, and what is kept for it.
            let count = 2000
            for _ in 0..<count {
                let answer = try ProxyCommand.answer("CONNECT \(name):443 HTTP/1.1\r\n\r\n", at: endpoint)
                try #require(answer.hasPrefix("HTTP/1.1 403"))
            }
            var text = ""
            while !text.contains("left_out") {
                text += String(decoding: command.errors.availableData, as: UTF8.self)
            }
            command.process.terminate()
            text += String(decoding: command.errors.readDataToEndOfFile(), as: UTF8.self)
            #expect(command.process.waitForEnd() == 0)
            var told = 0
            for line in text.split(separator: "\n") {
                let left = line.hasPrefix("{\"left_out\":") ? Int(line.dropFirst(12).dropLast()) : 1
                told += try #require(left)
            }
            #expect(told == count)
        }
    }

    @Test("Programs without credentials are counted, not told one by one")
    func strangers() async throws {
        try await onOwnThread {
            let command = try ProxyCommand(["--report", "-"])
            let endpoint = try command.endpoint()
            for _ in 0..<9 {
                let answer = try ProxyCommand.answer("CONNECT a.test:443 HTTP/1.1\r\n\r\n", at: endpoint)
                #expect(answer.hasPrefix("HTTP/1.1 407"))
            }
            command.process.terminate()
            let text = String(decoding: command.errors.readDataToEndOfFile(), as: UTF8.self)
            let lines = text.split(separator: "\n")
            #expect(lines.count == 4)
            #expect(lines.first?.hasPrefix("connect refused 407: ") == true)
            #expect(lines.last?.hasSuffix(" (8 times so far)") == true)
            #expect(command.process.waitForEnd() == 0)
        }
    }

    @Test("It serves on when the reader of its reports has gone")
    func noReader() async throws {
        try await onOwnThread {
            let command = try ProxyCommand(["--open", "--report", "-"])
            let endpoint = try command.endpoint()
            try command.errors.close()
            for _ in 0..<3 {
                #expect(try ProxyCommand.answer("x\r\n\r\n", at: endpoint).hasPrefix("HTTP/1.1 400"))
            }
            command.process.terminate()
            #expect(command.process.waitForEnd() == 0)
        }
    }

    @Test(
        "Each line of a map counts, whatever ends it, and a mark of the byte order before it does not",
        arguments: ["\n", "\r\n"]
    )
    func mapLines(_ end: String) async throws {
        try await onOwnThread {
            let target = try Listener.atOwnAddress()
            let place = "\(target.address):\(target.port)"
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("map-\(UUID()).txt").path
            let lines = ["\u{FEFF}a.test:1:\(place) # first", "# more", "\tb.test:*:\(place)", ""]
            try lines.joined(separator: end).write(toFile: path, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: path) }
            let command = try ProxyCommand(["--open", "--refuse-others", "--map", path])
            let endpoint = try command.endpoint()
            #expect(try ProxyCommand.connects(to: "a.test:1", at: endpoint))
            #expect(try ProxyCommand.connects(to: "b.test:2", at: endpoint))
            #expect(try !ProxyCommand.connects(to: "a.test:2", at: endpoint))
            command.process.terminate()
            #expect(command.process.waitForEnd() == 0)
        }
    }

    @Test("Lines of a map that are as in hosts(5) add up, and each --listen")
    func sameName() async throws {
        try await onOwnThread {
            let target = try Listener.atOwnAddress()
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("map-\(UUID()).txt").path
            // Nothing listens at the other two.
            let lines =
                "\(target.address) a.test\n127.255.255.253 a.test\n127.255.255.254 A.test b.test\n"
            try lines.write(toFile: path, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: path) }
            let command = try ProxyCommand([
                "--open", "--refuse-others", "--map", path, "--listen", "0", "--listen", "[::1]:0",
            ])
            let urls = try command.urls(2)
            let endpoint = try Endpoint(String(urls[0].dropFirst(7)))
            #expect("\(endpoint.address)" == "127.0.0.1")
            #expect("\(try Endpoint(String(urls[1].dropFirst(7))).address)" == "::1")
            #expect(try ProxyCommand.connects(to: "a.test:\(target.port)", at: endpoint))
            #expect(try !ProxyCommand.connects(to: "b.test:\(target.port)", at: endpoint))
            command.process.terminate()
            #expect(command.process.waitForEnd() == 0)
        }
    }

    @Test(
        "An empty host or port of --connect-to is any, the first of two counts, and a limit is the library's"
    )
    func anyHost() async throws {
        try await onOwnThread {
            let target = try Listener.atOwnAddress()
            let place = "\(target.address):\(target.port)"
            let silent = try Listener(listening: false)
            let command = try ProxyCommand([
                "--open", "--refuse-others", "--limit", "tunnels=2", "--connect-to", "a.test::\(place)",
                "--connect-to", ":5:\(place)", "--connect-to", "a.test::\(silent.address):\(silent.port)",
            ])
            let endpoint = try command.endpoint()
            #expect(try !ProxyCommand.connects(to: "b.test:6", at: endpoint))
            let programs = try (0..<3).map { _ in try Peer.connected(to: endpoint) }
            var answers: [String] = []
            for (program, host) in zip(programs, ["a.test:6", "b.test:5", "a.test:5"]) {
                try program.send("CONNECT \(host) HTTP/1.1\r\n\r\n")
                answers.append(try program.text(12))
            }
            #expect(answers == ["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 503"])
            command.process.kill()
            _ = command.process.waitForEnd()
        }
    }

    @Test(
        "The first --connect-to that is for a host and a port counts, as in curl, however much another says",
        arguments: [
            (["::GOOD", "a.test:5:BAD"], ["a.test:5", "a.test:6", "b.test:5"], []),
            (
                [":5:GOOD", "A.test::BAD", "b.test:5:BAD"], ["a.test:5", "b.test:5"],
                ["a.test:6", "b.test:6"]
            ),
            (["a.test::GOOD", ":5:BAD", "::GOOD"], ["a.test:5", "b.test:6"], ["b.test:5"]),
            (["a.test:5:BAD", "::GOOD", "a.test::BAD"], ["a.test:6", "b.test:5"], ["a.test:5"]),
        ] as [([String], [String], [String])]
    )
    func firstRedirection(_ values: [String], _ good: [String], _ bad: [String]) async throws {
        try await onOwnThread {
            let (target, silent) = (try Listener.atOwnAddress(), try Listener(listening: false))
            let words = values.map {
                $0.replacing("GOOD", with: "\(target.address):\(target.port)")
                    .replacing("BAD", with: "\(silent.address):\(silent.port)")
            }
            let command = try ProxyCommand(
                ["--open", "--refuse-others"] + words.flatMap { ["--connect-to", $0] }
            )
            let endpoint = try command.endpoint()
            for host in good { #expect(try ProxyCommand.connects(to: host, at: endpoint), "\(host)") }
            for host in bad { #expect(try !ProxyCommand.connects(to: host, at: endpoint), "\(host)") }
            command.process.terminate()
            #expect(command.process.waitForEnd() == 0)
        }
    }

    @Test("It serves a file for browsers that names it, and says where")
    func pac() async throws {
        try await onOwnThread {
            let command = try ProxyCommand(["--pac"])
            let urls = try command.urls(2)
            let endpoint = try Endpoint(String(try #require(urls[0].split(separator: "@").last)))
            #expect(urls[1] == "http://\(endpoint)/proxy.pac")
            let request = "GET /proxy.pac HTTP/1.1\r\nHost: \(endpoint)\r\nConnection: close\r\n\r\n"
            let answer = try ProxyCommand.answer(request, at: endpoint)
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(answer.contains("\"PROXY \(endpoint)\""))
            command.process.terminate()
            #expect(command.process.waitForEnd() == 0)
        }
    }

    @Test("Programs that send nothing leave descriptors to others where tunnels have most of them")
    func silentPrograms() async throws {
        try await onOwnThread {
            let target = try Listener.atOwnAddress()
            let command = try ProxyCommand(
                ["--open", "--allow-private", "--quiet", "--limit", "head=3600"],
                after: "ulimit -n 64"
            )
            let endpoint = try command.endpoint()
            var others: [Peer] = []
            for _ in 0..<19 {
                let program = try Peer.connected(to: endpoint)
                try program.send("CONNECT \(target.address):\(target.port) HTTP/1.1\r\n\r\n")
                #expect(try program.text(12) == "HTTP/1.1 200")
                others.append(program)
            }
            for _ in 0..<40 { others.append(try Peer.connected(to: endpoint)) }
            let answer = try ProxyCommand.answer("GET / HTTP/1.1\r\n\r\n", at: endpoint)
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            command.process.kill()
            _ = command.process.waitForEnd()
        }
    }

    @Test("As many silent programs may wait as the descriptors allow that it gets at its start")
    func raisedLimit() async throws {
        try await onOwnThread {
            let command = try ProxyCommand(
                ["--open", "--limit", "waiting=100", "--limit", "head=3600"],
                after: "ulimit -Hn 4096; ulimit -Sn 64"
            )
            let endpoint = try command.endpoint()
            let silent = try (0..<40).map { _ in try Peer.connected(to: endpoint) }
            for program in silent + [try Peer.connected(to: endpoint)] {
                try program.send("GET / HTTP/1.1\r\n\r\n")
                #expect(try program.text(12) == "HTTP/1.1 400")
            }
            command.process.kill()
            _ = command.process.waitForEnd()
        }
    }

    @Test("A pipe in place of a file holds up nothing that a signal would not end")
    func pipes() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("pipe-\(UUID())").path
        try #require(mkfifo(path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let result = try await ProxyCommand.run(["--report", path, "--", "true"])
        #expect(result.status == 66)
        #expect(result.errors == "direct-proxy: --report \(path): nobody reads this pipe\n")
        try await onOwnThread {
            let command = try ProxyCommand(["--map", path])
            // Returns once it reads.
            let pipe = try #require(FileHandle(forWritingAtPath: path))
            command.process.terminate()
            #expect(command.process.waitForEnd() == -SIGTERM)
            try pipe.close()
        }
    }

    @Test("A process whose status is not to be had has not succeeded")
    func lostStatus() async throws {
        try await onOwnThread {
            let child = try ChildProcess("true", [], environment: [], streams: .init())
            #expect(child.waitForEnd() == .exited(0))
            #expect(child.endingIfOver() == .exited(127))
        }
    }
}
