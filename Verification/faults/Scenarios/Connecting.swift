internal import CommandKit
internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import DirectTLS
internal import Glibc

/// Scenarios of dialling, TLS, proxies and the first use in a process.
extension Scenario {
    static let connecting = [plain, lookup, secure, start, clientKey, proxy, socks] + roots

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
