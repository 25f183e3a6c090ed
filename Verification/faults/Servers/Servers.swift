internal import CFaults
internal import CommandKit
internal import Glibc
internal import TLSFixtures

/// The servers of all scenarios. They run in a process of their own, so that only the client's calls fail.
///
/// They write certificates into the stage's folder, their ports to standard output, and end with its input.
struct Servers {
    private let folder: String
    private let authority = TestAuthority("Faults Root")
    private let stranger = TestAuthority("Another Root")

    /// Serves until standard input ends. Returns the exit code of the process.
    static func run(in folder: String) -> Int32 {
        do {
            let servers = Servers(folder: folder)
            try servers.writeMaterial()
            let running = try servers.start()
            print(running.map { String($0.port) }.joined(separator: " "))
            var byte: UInt8 = 0
            while read(0, &byte, 1) > 0 {}
            return withExtendedLifetime(running) { 0 }
        } catch {
            print("\(error)")
            return 1
        }
    }

    private init(folder: String) {
        self.folder = folder
    }

    /// Starts the servers in the order of `Stage.Ports`.
    private func start() throws -> [FixtureServer] {
        let certificate = authority.certificate(for: "secure.test", "dns.test", "127.0.0.1")
        let secure = try FixtureServer.start(.tls(certificate)) { try Replies.reply(to: $0) }
        let strict = try FixtureServer.start(
            .tls(certificate) { $0.clientCertificates = .required(from: [authority.certificate]) }
        ) { try Replies.reply(to: $0) }
        let port = secure.port
        let plain = try FixtureServer.start { try Replies.reply(to: $0, redirectPort: port) }
        let address = "127.0.0.1:\(port)"
        let routes = ["secure.test:\(port)": address, address: address]
        let proxy = try FixtureServer.start(behaviour: .proxy(FixtureProxy(routes)))
        return [plain, secure, strict, proxy]
    }

    /// Writes the roots as a file, as a bundle in which the needed one is last, and as hashed directories
    /// with and without it; and a client's certificate with its key.
    private func writeMaterial() throws {
        let root = authority.rootPEM
        try write(root, to: "root.pem")
        let others = (0..<20).map { TestAuthority("Other Root \($0)").rootPEM }
        try write(others.joined() + root, to: "bundle.pem")
        for name in ["hashed", "others"] { mkdir("\(folder)/\(name)", 0o700) }
        try write(root, to: "hashed/\(try hashName(root))")
        for other in others { try write(other, to: "others/\(try hashName(other))") }
        let client = try authority.issue(.client("client.test"))
        try write(client.chainPEM, to: "client.pem")
        try write(client.keyPEM, to: "client.key")
    }

    private func hashName(_ pem: String) throws -> String {
        var name = [CChar](repeating: 0, count: 16)
        guard flt_hash_name(pem, &name, 16) == 1 else { throw StageError("no hash of a root") }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private func write(_ text: String, to name: String) throws {
        try Files.write(Array(text.utf8), to: "\(folder)/\(name)")
    }
}
