internal import CommandKit
internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import TLSFixtures

/// Scenarios of bodies, redirects and resolvers.
extension Scenario {
    static let transferring = [upload, stream, redirect, gzip, download, resumed, hosts] + resolvers

    private static let upload = Scenario(
        name: "upload of a file",
        prepare: { work in
            try Files.write(
                FixturePattern.bytes(at: 0, count: Replies.largeSize),
                to: "\(work.folder)/upload"
            )
        },
        perform: { work in
            let client = try work.client()
            let response = try await client.post(work.secure("/upload"), .file("\(work.folder)/upload"))
            try expect(response.text == "whole", "the upload arrived \(response.text ?? "?")")
        }
    )

    private static let stream = Scenario(name: "upload of a stream") { work in
        let client = try work.client()
        let pieces = AsyncStream<[UInt8]> { stream in
            for start in stride(from: 0, to: Replies.largeSize, by: 30_000) {
                stream.yield(FixturePattern.bytes(at: start, count: 30_000))
            }
            stream.finish()
        }
        let response = try await client.post(work.plain("/upload"), .stream(pieces))
        try expect(response.text == "whole", "the upload arrived \(response.text ?? "?")")
    }

    private static let redirect = Scenario(name: "redirect, cookies") { work in
        let client = try work.client { $0.cookies = CookieJar() }
        let first = try await client.get(work.plain("/redirect"))
        try expect(first.history.count == 1, "\(first.history.count) redirects")
        let second = try await client.get(work.secure("/cookie"))
        try expect(second.text == Replies.cookie, "the cookie is \(second.text ?? "?")")
    }

    private static let gzip = Scenario(name: "content coding") { work in
        try await work.client().fetchSmall(work.plain("/gzip"))
    }

    private static let download = Scenario(
        name: "download to a file",
        prepare: { work in try Files.write(Array("old".utf8), to: "\(work.folder)/file") },
        perform: { work in
            let client = try work.client()
            let response = try await client.send(HTTPClient.Request(.get, work.secure("/large")))
            try await response.body.write(to: "\(work.folder)/file")
            try expect(isPattern(Files.read("\(work.folder)/file") ?? []), "the file has other bytes")
        },
        inspect: { work in
            let file = Files.read("\(work.folder)/file") ?? []
            return file == Array("old".utf8) || isPattern(file) ? [] : ["the file has \(file.count) bytes"]
        },
        leavesFiles: true
    )

    private static let resumed = Scenario(
        name: "download that resumes",
        prepare: { work in try Files.write(Array("old".utf8), to: "\(work.folder)/file") },
        perform: { work in
            try await resume(in: work)
            try expect(isPattern(Files.read("\(work.folder)/file") ?? []), "the file has other bytes")
        },
        inspect: { work in
            let file = Files.read("\(work.folder)/file") ?? []
            let parts = Files.allNames(in: work.folder).filter { $0.contains(".part") }
            return (isPattern(file) ? [] : ["the file has \(file.count) bytes"])
                + parts.map { "\($0) is left" }
        },
        leavesFiles: true,
        beside: { work in
            do {
                try await resume(in: work)
            } catch let error as HTTPError {
                guard case .download(.inProgress) = error.reason else { throw error }
            }
        },
        inspectRemains: download.inspect,
        mayBeOvertaken: true
    )

    private static func resume(in work: ScenarioRun) async throws {
        let client = try work.client {
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
        }
        try await client.download(work.secure("/resumable"), to: "\(work.folder)/file")
    }

    private static func isPattern(_ bytes: [UInt8]) -> Bool {
        bytes.count == Replies.largeSize && FixturePattern.matches(bytes.span, at: 0)
    }

    private static let hosts = Scenario(
        name: "hosts file",
        prepare: { work in
            let lines = (0..<20_000).map { "192.0.2.1 host\($0).test\n" }.joined()
            try Files.write(Array("\(lines)127.0.0.1 plain.test\n".utf8), to: "\(work.folder)/hosts")
        },
        perform: { work in
            let client = try work.client { $0.addresses = try StaticMap(hostsFile: "\(work.folder)/hosts") }
            try await client.fetchSmall(work.plain("/small"))
        }
    )
}
