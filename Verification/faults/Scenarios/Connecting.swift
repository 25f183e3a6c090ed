internal import CommandKit
internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import DirectProxy
internal import DirectTLS
internal import Glibc
internal import TLSFixtures

/// Scenarios of dialling, TLS, proxies and the first use in a process.
extension Scenario {
    static let connecting = [plain, lookup, secure, start, clientKey, proxy, socks, localProxy] + roots

    private static let plain = Scenario(name: "dial, request") { work in
        let client = try work.client()
        try await client.fetchLarge(work.plain("/large"))
        try await client.fetchSmall(work.plain("/small"))
    }

    private static let lookup = Scenario(name: "system's resolver") { work in
        let client = try work.client()
        try await client.fetchSmall("http://localhost:\(work.stage.ports.plain)/small")
    }

    private static let secure = Scenario(name: "handshake, request", isSecret: true) { work in
        let client = try work.client()
        try await client.fetchLarge(work.secure("/chunked"))
        try await client.fetchSmall(work.secure("/small"))
    }

    /// In a process of its own: what is made once is made while a call fails. Without the thread of its loop
    /// the client cannot work at all, and ends the process with a message.
    private static let start = Scenario(
        name: "first use in a process",
        isSecret: true,
        perform: { work in try await work.client().fetchSmall(work.secure("/small")) },
        needsOwnProcess: true,
        functions: ["epoll_create1", "eventfd", "epoll_ctl", "allocation", "fopen", "fread", "fgets"]
    )

    private static let clientKey = Scenario(name: "client certificate", isSecret: true) { work in
        let folder = work.stage.folder
        let client = try work.client { settings in
            settings.tls.clientIdentity = ClientIdentity(
                certificateChain: Files.read("\(folder)/client.pem") ?? [],
                privateKey: Files.read("\(folder)/client.key") ?? []
            )
        }
        try await client.fetchSmall("https://secure.test:\(work.stage.ports.strict)/small")
    }

    private static let proxy = Scenario(name: "HTTP proxy", isSecret: true) { work in
        let client = try work.client {
            $0.proxy = ProxySettings(try Proxy("http://127.0.0.1:\(work.stage.ports.proxy)"))
        }
        try await client.fetchSmall(work.secure("/small"))
    }

    private static let socks = Scenario(name: "SOCKS proxy", isSecret: true) { work in
        let client = try work.client {
            $0.proxy = ProxySettings(try Proxy("socks5h://127.0.0.1:\(work.stage.ports.proxy)"))
        }
        try await client.fetchSmall(work.secure("/small"))
    }

    /// Two programs behind a proxy, all in one process: tunnels by CONNECT and by SOCKS, and requests that
    /// are forwarded. The proxy has a socket that listens, two for each connection of the clients, and pipes.
    private static let localProxy = Scenario(
        name: "local proxy",
        isSecret: true,
        hiddenConnections: 12,
        prepare: { try $0.startProxy() },
        perform: { work in
            let url = work.proxy?.proxyURL ?? ""
            let client = try work.behindProxy("client", url)
            try await client.fetchLarge(work.secure("/large"))
            let response = try await client.get(work.plain("/large"))
            if response.status.code >= 500 { throw ProxyAnswer(line: response.text ?? "") }
            try expect(FixturePattern.matches(response.body.span, at: 0), "other bytes")
            try expect(response.body.count == Replies.largeSize, "\(response.body.count) bytes")
            let other = try work.behindProxy("other", "socks5h" + url.dropFirst(4))
            try await other.fetchSmall(work.secure("/small"))
        }
    )

    /// The system's roots, in the forms that systems have. The paths are spelled in a new way each time,
    /// because roots that have been read are kept.
    private static let roots = [
        roots("roots in a directory", directory: "hashed", bundle: nil),
        roots("roots in a bundle", directory: nil, bundle: "bundle.pem"),
        roots("roots in both", directory: "others", bundle: "bundle.pem"),
    ]

    private static func roots(_ name: String, directory: String?, bundle: String?) -> Scenario {
        Scenario(
            name: name,
            isSecret: true,
            prepare: { work in
                let folder = work.stage.folder + "/run-\(work.number)/.."
                unsetenv("SSL_CERT_DIR")
                unsetenv("SSL_CERT_FILE")
                if let directory { setenv("SSL_CERT_DIR", "\(folder)/\(directory)", 1) }
                if let bundle { setenv("SSL_CERT_FILE", "\(folder)/\(bundle)", 1) }
            },
            perform: { work in
                let client = try work.client { $0.tls.roots = .system }
                try await client.fetchSmall(work.secure("/small"))
            }
        )
    }
}

extension ScenarioRun {
    /// Returns a client that knows no address, but a proxy that does.
    fileprivate func behindProxy(_ name: String, _ url: String) throws -> HTTPClient {
        try client(name) { settings in
            settings.addresses = StaticMap()
            settings.proxy = ProxySettings(try Proxy(url))
        }
    }
}
