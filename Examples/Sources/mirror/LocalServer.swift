import DirectHTTP
import TLSFixtures

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension Mirror {
    /// Mirrors two files of a server inside this process, which breaks off every other response.
    static func mirrorLocalServer() async throws {
        let files = ["tea.bin": 3_000_000, "cake.bin": 20]
        let digests = [
            "tea.bin": "743fd190d8ee22d6c4146e71a2cb8dfb25746a0fec3d453def83406d51e1b443",
            "cake.bin": "06848f8ab4e25e60ed7f273d0c394126128819601a3d293e4dfb2024074f89f2",
        ]
        let list = digests.map { "\($0.value)  \($0.key)\n" }.sorted().joined()
        let server = try FixtureServer.start { request in
            let name = String(request.path.dropFirst("/files/".count))
            if name == "SHA256SUMS" { return .text(list) }
            guard let size = files[name] else { return .text("not here", status: 404) }
            return part(of: size, for: request)
        }
        let folder = "/tmp/direct-http-mirror-\(getpid())"
        guard mkdir(folder, 0o700) == 0 else { throw Entry.Unusable(line: folder) }
        defer {
            for name in files.keys { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
        let url = "http://\(server.address):\(server.port)/files/SHA256SUMS"
        let count = try await Mirror(client: HTTPClient(), folder: folder).mirror(url)
        let ranges = server.requests.compactMap { $0.headers["range"] }
        print("\(count) files; parts that were asked for: \(ranges)")
        precondition(count == 2 && ranges == ["bytes=1000000-", "bytes=2000000-"])
    }

    /// Sends a file or the rest of one, but no more than a million bytes.
    private static func part(of size: Int, for request: FixtureRequest) -> FixtureReply {
        let first = request.headers["range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
        let content = (first..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var headers: FixtureHeaders = ["ETag": "\"1\"", "Content-Length": "\(content.count)"]
        if first > 0 { headers.append("Content-Range", "bytes \(first)-\(size - 1)/\(size)") }
        let reply = FixtureReply.bytes(
            Array(content.prefix(1_000_000)),
            status: first > 0 ? 206 : 200,
            headers
        )
        return content.count > 1_000_000 ? reply.then(.cut) : reply
    }
}
