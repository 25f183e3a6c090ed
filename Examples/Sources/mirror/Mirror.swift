// Mirrors the files of a list, with a bar for the progress. A download that breaks off goes on where it was:
// in the same run, at another address of the host, and in a later run of the program.
//
//   mirror LIST-URL FOLDER     LIST-URL has lines of a SHA-256 digest and a name, as sha256sum writes them
//   mirror                     with a server of its own, which breaks off now and then

import DirectHTTP

@main
struct Mirror {
    let client: HTTPClient
    let folder: String

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let list = arguments.first, let folder = arguments.last else {
            return try await mirrorLocalServer()
        }
        let count = try await Mirror(client: HTTPClient(), folder: folder).mirror(list)
        print("\(count) files")
    }

    /// Downloads every file of the list, and returns their number.
    func mirror(_ list: String) async throws -> Int {
        let base = try HTTPURL(list)
        let lines = try await client.get(base).requiringSuccess().text ?? ""
        let entries = try lines.split(separator: "\n").map { try Entry($0) }
        for entry in entries {
            let bar = ProgressBar(entry.name)
            let result = try await client.download(
                // A name is one component of the path: what it contains cannot lead to another folder of the
                // server.
                HTTPClient.Request(.get, try base.resolving("./").appending(path: entry.name)),
                to: "\(folder)/\(entry.name)",
                options: DownloadOptions(sha256: entry.digest)
            ) { bar.show($0) }
            bar.end(
                "\(result.size) bytes, \(result.resumedBytes) of them from before, \(result.history.count) more requests"
            )
        }
        return entries.count
    }
}

/// A line of the list.
struct Entry {
    let name: String
    let digest: [UInt8]

    init(_ line: Substring) throws {
        let words = line.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, let digest = Self.bytes(words[0]), digest.count == 32,
            // A name from elsewhere must stay in the folder.
            !words[1].contains("/"), !words[1].hasPrefix(".")
        else { throw Unusable(line: String(line)) }
        name = String(words[1])
        self.digest = digest
    }

    struct Unusable: Error {
        let line: String
    }

    private static func bytes(_ digits: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = digits
        while !rest.isEmpty {
            guard rest.count >= 2, let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
