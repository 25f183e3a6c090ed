import DirectCore
import DirectHTTP
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("Other projects' servers", .idleLimit)
struct RealPeerTests {
    @Test(
        "A client exchanges requests with nginx: keep-alive, both versions of TLS, all framings",
        .enabled(if: Command.isInstalled("nginx"))
    )
    func nginx() async throws {
        let directory = try TemporaryFolder()
        let certificate = testAuthority.certificate(for: "a.test")
        try directory.write(certificate.chainPEM, "chain.pem")
        try directory.write(certificate.keyPEM, "key.pem")
        let size = 3_000_000
        try directory.write(String(repeating: "0123456789", count: size / 10), "large.txt")
        let port = try SharedPort(on: ["127.0.0.1"])
        try directory.write(nginxConfiguration(directory.path, port.number), "nginx.conf")
        let server = try Command(
            "nginx",
            ["-p", directory.path, "-c", directory.path + "/nginx.conf", "-e", directory.path + "/log"]
        )
        defer { server.stop() }
        for version in [TLSVersion.tls12, .tls13] {
            let client = HTTPClient.trusting {
                $0.tls.minimumVersion = version
                $0.tls.maximumVersion = version
            }
            func request(_ method: DirectHTTP.HTTPMethod, _ path: String, _ body: RequestBody = .none)
                -> Request
            {
                var request = Request(method, "https://a.test:\(port.number)\(path)", body: body)
                request.addresses = ["127.0.0.1"]
                return request
            }
            let first = try await retrying(while: server) { try await client.fetch(request(.get, "/hello")) }
            #expect(first.text == "hello a.test")
            #expect(first.transaction?.tls?.version == version)
            let large = try await client.fetch(request(.get, "/large.txt"))
            #expect(large.body.count == size && large.isReused)
            #expect(large.transaction?.tls?.alpn == "http/1.1")
            let head = try await client.fetch(request(.head, "/large.txt"))
            #expect(head.headers["Content-Length"] == "\(size)" && head.body.isEmpty)
            #expect(try await client.fetch(request(.get, "/nothing")).status == 204)
            #expect(try await client.fetch(request(.get, "/missing")).status == 404)
            let posted = try await client.fetch(
                request(.post, "/hello", .bytes([UInt8](repeating: 1, count: 200_000)))
            )
            #expect(posted.status == .ok)
            let chunked = RequestBody.stream(PatternPieces(sizes: [1, 70_000]))
            #expect(try await client.fetch(request(.put, "/hello", chunked)).status == .ok)
            // It answers without reading those bodies, so only from here on one can be sure of the
            // connection.
            _ = try await client.fetch(request(.get, "/hello"))
            #expect(try await client.fetch(request(.get, "/hello")).isReused)
            // Sent without an announced length, and with one.
            let closing = try await client.fetch(request(.get, "/close"))
            #expect(closing.text == "bye")
            #expect(try await !client.fetch(request(.get, "/hello")).isReused)
        }
    }

    @Test(
        "A client reads a page of openssl s_server that ends with the connection",
        .enabled(if: Command.isInstalled("openssl")),
        arguments: [TLSVersion.tls12, .tls13]
    )
    func openSSL(version: TLSVersion) async throws {
        let directory = try TemporaryFolder()
        let certificate = testAuthority.certificate(for: "a.test")
        try directory.write(certificate.chainPEM, "chain.pem")
        try directory.write(certificate.keyPEM, "key.pem")
        let port = try SharedPort(on: ["127.0.0.1"])
        let server = try Command(
            "openssl",
            [
                "s_server", "-accept", "127.0.0.1:\(port.number)", "-cert", directory.path + "/chain.pem",
                "-key", directory.path + "/key.pem", "-www", version == .tls12 ? "-tls1_2" : "-tls1_3",
            ]
        )
        defer { server.stop() }
        let client = HTTPClient.trusting()
        var request = Request(.get, "https://a.test:\(port.number)/")
        request.addresses = ["127.0.0.1"]
        for round in 0..<2 {
            let response = try await retrying(while: server) { [request] in try await client.fetch(request) }
            #expect(response.text?.contains("s_server") == true)
            #expect(response.transaction?.tls?.version == version)
            #expect(response.transaction?.tls?.resumed == (round > 0))
            #expect(response.transaction?.tls?.certificate?.notAfter != nil)
            #expect(!response.isReused)
        }
    }

    @Test(
        "OpenSSL's s_server decrypts the name, and names its keys to a client with old ones",
        .enabled(if: FixtureECHKey.isSupported && Command.isInstalled("openssl"), "needs OpenSSL 4"),
        arguments: [false, true]
    )
    func openSSLWithECH(isStale: Bool) async throws {
        let directory = try TemporaryFolder()
        for (name, file) in [("cover.test", "1"), ("secret.test", "2")] {
            let certificate = testAuthority.certificate(for: name)
            try directory.write(certificate.chainPEM, "chain\(file).pem")
            try directory.write(certificate.keyPEM, "key\(file).pem")
        }
        let key = try FixtureECHKey(publicName: "cover.test")
        try directory.write(String(decoding: key.pem, as: UTF8.self), "ech.pem")
        let port = try SharedPort(on: ["127.0.0.1"])
        let path = directory.path
        let server = try Command(
            "openssl",
            [
                "s_server", "-accept", "127.0.0.1:\(port.number)", "-www", "-ech_key", path + "/ech.pem",
                "-cert", path + "/chain1.pem", "-key", path + "/key1.pem", "-servername", "secret.test",
                "-cert2", path + "/chain2.pem", "-key2", path + "/key2.pem",
            ]
        )
        defer { server.stop() }
        let list = try ECHConfigList(
            (isStale ? FixtureECHKey(publicName: "cover.test") : key).configList
        )
        var request = Request(.get, "https://secret.test:\(port.number)/")
        request.addresses = ["127.0.0.1"]
        request.encryptedClientHello = .config(list)
        let client = HTTPClient.trusting()
        let response = try await retrying(while: server) { [request] in try await client.fetch(request) }
        #expect(response.text?.contains("s_server") == true)
        #expect(
            response.transaction?.tls?.encryptedClientHello
                == .accepted(
                    innerName: "secret.test",
                    publicName: list.publicName,
                    afterRejection: isStale
                )
        )
    }

    /// Until the server listens; what fails otherwise is none of this.
    private func retrying(
        while server: Command,
        _ operation: () async throws -> BufferedResponse
    ) async throws -> BufferedResponse {
        while true {
            do {
                return try await operation()
            } catch let error as HTTPError where error.phase == .connect && !server.hasEnded {
                await Task.yield()
            }
        }
    }

    private func nginxConfiguration(_ directory: String, _ port: UInt16) -> String {
        """
        daemon off;
        worker_processes 1;
        pid \(directory)/pid;
        error_log \(directory)/log;
        events { worker_connections 64; }
        http {
            access_log off;
            client_body_temp_path \(directory)/body;
            proxy_temp_path \(directory)/proxy;
            fastcgi_temp_path \(directory)/fastcgi;
            uwsgi_temp_path \(directory)/uwsgi;
            scgi_temp_path \(directory)/scgi;
            server {
                listen 127.0.0.1:\(port) ssl;
                server_name a.test;
                ssl_certificate \(directory)/chain.pem;
                ssl_certificate_key \(directory)/key.pem;
                ssl_protocols TLSv1.2 TLSv1.3;
                root \(directory);
                location = /hello { return 200 "hello $ssl_server_name"; }
                location = /nothing { return 204; }
                location = /close { keepalive_timeout 0; return 200 "bye"; }
            }
        }
        """
    }
}

/// A program that runs until it is stopped.
private final class Command {
    private let process: TestProcess

    init(_ name: String, _ arguments: [String]) throws {
        let path = try #require(Self.path(of: name))
        process = try TestProcess(path, arguments, environment: ProcessInfo.processInfo.environment)
    }

    var hasEnded: Bool { process.hasEnded }

    func stop() {
        process.terminate()
        _ = process.waitForEnd()
    }

    static func isInstalled(_ name: String) -> Bool { path(of: name) != nil }

    private static func path(of name: String) -> String? {
        let path: String = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let directories: [String] = path.split(separator: ":").map(String.init) + ["/usr/sbin"]
        return directories.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
