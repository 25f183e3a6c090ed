import DirectTestCommands
import Foundation
import Testing

@testable import tls_fixtures

private let hasTools = ["gcc", "python3"].allSatisfy { tool in
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)")
    }
}

#if os(Linux)
@Suite("Programs that are led to addresses by preload.so", .enabled(if: hasTools))
struct PreloadTests {
    private static let program = """
        import os, socket
        server = socket.create_server(("127.0.0.1", 0))
        place = f"127.0.0.1:{server.getsockname()[1]}"
        os.environ["CLIENT_CONNECT"] = f"a.test:80=[::1]:1,{place};[::7]:80={place}"
        for wanted, families in {0: [10, 2], 10: [10], 2: [2]}.items():
            found = socket.getaddrinfo("a.test", 80, family=wanted, type=socket.SOCK_STREAM)
            assert [int(each[0]) for each in found] == families, found
        client = socket.create_connection(("a.test", 80))
        client = socket.socket(socket.AF_INET6)
        client.connect(("::7", 80))
        inode = os.fstat(client.fileno()).st_ino
        client.connect_ex(("::7", 80))
        assert os.fstat(client.fileno()).st_ino == inode, "another socket"
        """

    @Test("Their addresses have their families, and a socket that is connected again stays")
    func preloaded() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "preload-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let steps = """
            gcc -shared -fPIC -o "$1/preload.so" "$2" -ldl && LD_PRELOAD="$1/preload.so" exec python3 -c "$3"
            """
        let source = "\(checkedInFixtures)/clients/preload.c"
        let child = try TestProcess(
            "sh",
            ["-c", steps, "sh", folder.path, source, Self.program],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""],
            errors: STDERR_FILENO
        )
        #expect(try await onOwnThread { child.waitForEnd() } == 0)
    }
}
#endif
