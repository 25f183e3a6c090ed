public import DirectHTTP
internal import DirectCore
internal import DirectHTTP1
internal import DirectTransport

extension HTTPClient.Request {
    /// Returns a curl command that sends this request, for a POSIX shell: the URL's name, at the request's
    /// addresses. A final dot of the name is left out, since the client sends it nowhere.
    ///
    /// Addresses become `--resolve`, or `--connect-to` with the first of them if it has another port than the
    /// URL or if the URL's host is an address. The request's own fields are sent and no others, not even
    /// curl's. A body of text stands in the command, one of other bytes up to 100,000 is printed by `printf`,
    /// and curl itself reads a file. The command reads any other body from its standard input, and names it
    /// as missing: that of a stream, a form with files, a larger one, and one that is left out. It is sent in
    /// chunks where the client would do so.
    ///
    /// A file of roots becomes `--cacert` and `--proxy-cacert`, and files of a client certificate `--cert`
    /// and `--key`. Other roots, a client certificate in memory, the passphrase of a key, credentials of an
    /// authenticator, and demands for which curl has no option are named in front of the command, in
    /// arguments of the shell's `:`, as missing. Not named is what curl does by itself: it takes the common
    /// name of a certificate that has no names.
    ///
    /// A network interceptor sees requests with all fields. For a request before it is sent,
    /// ``HTTPClient/curlCommand(for:redacting:)`` adds what the client adds.
    ///
    /// - Parameter redaction: What the command hides. It is to be replaced by hand before the command is
    ///   used.
    /// - Throws: `HTTPError` if URL, addresses or fields are invalid.
    public func curlCommand(redacting redaction: Redaction = Redaction()) throws(HTTPError) -> String {
        var command = try CurlCommand(self, redacting: redaction, over: nil)
        if authenticator != nil { command.noteMissingCredentials(for: .server) }
        return command.text
    }
}

/// A curl command for one request.
struct CurlCommand {
    private let request: Request
    private let url: HTTPURL
    private let redaction: Redaction
    private var words: [[String]] = []
    /// The command that writes the body to curl.
    private var source = ""
    /// What has to be added by hand, because curl takes it from files alone or has no option for it.
    private var missing: [String] = []

    /// - Parameter proxy: the proxy that the client uses for the request; `nil` if it is unknown, and curl
    ///   may decide.
    init(_ request: Request, redacting redaction: Redaction, over proxy: CurlProxy?) throws(HTTPError) {
        self.request = request
        self.redaction = redaction
        let asked = try request.checkedURL()
        let proxy = proxy ?? request.proxy.map { CurlProxy(proxy: $0.proxy(for: asked)) }
        url = asked.withoutTrailingDot
        // No glob, no cookie file, no HTTP/2, and the path as it stands.
        words = [["curl", "--http1.1", "--globoff", "--path-as-is"]]
        try addMethod()
        words.append([redaction.shown(url)])
        try addAddresses(over: proxy)
        add(proxy)
        addLocalBinding()
        addTrust()
        try addFields(over: request.unixSocket == nil ? proxy?.proxy : nil)
        addBody()
        if asked.hasCredentials, !redaction.isNone { noteMissingCredentials(for: .server) }
    }

    /// The party that credentials are for.
    enum Party {
        case server, proxy
    }

    /// Names the field of the credentials as missing, unless the request has it or curl makes it of the URL.
    mutating func noteMissingCredentials(for party: Party) {
        let (option, name, isInURL) =
            switch party {
            case .server: ("--header", "Authorization", url.hasCredentials && redaction.isNone)
            case .proxy: ("--proxy-header", "Proxy-Authorization", false)
            }
        guard !request.headers.contains(name), !isInURL else { return }
        let line = "\(option) \(name), for the credentials of the client"
        if !missing.contains(line) { missing.append(line) }
    }

    /// The command, one option a line.
    var text: String {
        // A command that does nothing, since interactive shells need not know comments.
        missing.map { ": \(ShellWord.quoted("missing: " + $0));\n" }.joined() + source
            + words.map { $0.map(ShellWord.quoted).joined(separator: " ") }.joined(separator: " \\\n  ")
    }

    /// Whether the client announces content, or that there is none.
    private var hasBody: Bool {
        request.method.anticipatesContent || request.body.bytesInMemory?.isEmpty != true
    }

    /// curl derives GET, HEAD and POST from its other options.
    private mutating func addMethod() throws(HTTPError) {
        switch request.method {
        case .get where !hasBody: break
        case .post: break
        case .head where !hasBody: words.append(["--head"])
        default:
            guard let method = request.method.ifValid else {
                throw HTTPError(.request, .http(.invalidMethod), url: url)
            }
            words.append(["--request", "\(method)"])
        }
    }

    private mutating func addAddresses(over proxy: CurlProxy?) throws(HTTPError) {
        if let socket = request.unixSocket { return words.append(["--unix-socket", socket.path]) }
        guard let endpoints = request.addresses else { return }
        for endpoint in endpoints {
            if let fault = endpoint.fault { throw HTTPError(.request, .address(fault), url: url) }
        }
        guard let first = endpoints.first else { throw HTTPError(.request, .noAddresses, url: url) }
        let isDirect = proxy?.proxy == nil
        if isDirect, let name = url.host.name, endpoints.allSatisfy({ $0.port ?? url.port == url.port }) {
            let list = endpoints.map(\.address.inURL).joined(separator: ",")
            words.append(["--resolve", "\(name):\(url.port):\(list)"])
        } else {
            let target = "\(first.address.inURL):\(first.port ?? url.port)"
            words.append(["--connect-to", "\(url.host.inURL):\(url.port):\(target)"])
            if !isDirect { words.append(["--proxytunnel"]) }
        }
    }

    private mutating func add(_ proxy: CurlProxy?) {
        // The client uses no proxy for a Unix domain socket.
        guard let proxy = request.unixSocket == nil ? proxy : CurlProxy(proxy: nil) else { return }
        // The client does not look at the environment, and curl would.
        guard let proxy = proxy.proxy else { return words.append(["--noproxy", "*"]) }
        let scheme = proxy.scheme == .socks5 && proxy.lookup == .byProxy ? "socks5h" : proxy.scheme.rawValue
        words.append(["--proxy", "\(scheme)://\(proxy.host.inURL):\(proxy.port)", "--noproxy", ""])
        addTrust(in: proxy)
        guard let credentials = proxy.credentials else { return }
        let hidden = redaction.hides("Proxy-Authorization")
        let user = hidden ? SecretItems.mask : "\(credentials.user):\(credentials.password)"
        words.append(["--proxy-user", user])
    }

    private mutating func addLocalBinding() {
        switch request.localBinding {
        case .address(let address): words.append(["--interface", "host!\(address)"])
        case .interface(let name): words.append(["--interface", "if!\(name)"])
        case nil: break
        }
    }

    private mutating func addTrust() {
        guard url.scheme == .https, let settings = request.connectionSettings?.settings else { return }
        settings.tls.map { tls in
            add(tls.roots)
            addChecks(tls)
        }
        if settings.encryptedClientHello?.isDemanded == true {
            missing.append("the client encrypts the server name")
        }
        addIdentity(settings.tls?.clientIdentity)
        if settings.identity != nil || settings.tls?.insecureOverride != nil {
            missing.append("the client accepts certificates that curl refuses")
        }
    }

    /// Adds the roots for the server, or for the proxy.
    ///
    /// - Parameter prefix: What stands before the names of curl's options.
    private mutating func add(_ roots: TrustRoots, as prefix: String = "--") {
        switch roots {
        case .system: break
        case .only(let sources):
            if case .pemFile(let path)? = sources.first, sources.count == 1 {
                // curl would go on trusting the folder of roots that it was built with.
                words.append(["\(prefix)cacert", path, "\(prefix)capath", "/dev/null"])
            } else {
                missing.append("\(prefix)cacert FILE, with the roots of the client")
            }
        case .systemAnd:
            missing.append("\(prefix)cacert FILE, with the roots of the system and of the client")
        }
    }

    /// Adds what the client demands of a proxy's certificate, which curl judges by options of its own.
    private mutating func addTrust(in proxy: Proxy) {
        guard proxy.scheme == .https else { return }
        let tls = proxy.tls ?? request.connectionSettings?.settings.tls ?? TLSSettings()
        add(tls.roots, as: "--proxy-")
        var known = TLSSettings()
        (known.roots, known.clientIdentity) = (tls.roots, proxy.tls == nil ? tls.clientIdentity : nil)
        if tls != known || proxy.encryptedClientHello.isDemanded {
            missing.append("the client demands more of the proxy's TLS")
        }
    }

    /// Adds what the client demands of a server's certificate beside its roots.
    private mutating func addChecks(_ tls: TLSSettings) {
        if tls.minimumVersion == .tls13 { words.append(["--tlsv1.3"]) }
        if tls.maximumVersion == .tls12 { words.append(["--tls-max", "1.2"]) }
        if tls.stapling == .required { words.append(["--cert-status"]) }
        if let lists = tls.revocationLists {
            if case .pemFile(let path)? = lists.sources.first, lists.sources.count == 1 {
                words.append(["--crlfile", path])
            } else {
                missing.append("--crlfile FILE, with the revocation lists of the client")
            }
        }
        if tls.pins != KeyPins() {
            missing.append("the client has pins; curl compares the server's own key alone (--pinnedpubkey)")
        }
        if tls.verifier != nil { missing.append("the client asks a function about the certificate") }
        if tls.cipherSuites != nil || tls.groups != nil {
            missing.append("the client limits what is negotiated (--ciphers, --tls13-ciphers, --curves)")
        }
        if tls.certificateRules == .webPKI {
            missing.append("the client has stricter rules for certificates")
        }
    }

    private mutating func addIdentity(_ identity: ClientIdentity?) {
        guard let identity else { return }
        switch identity.files?.kind {
        case .pem(let chain, let key): words.append(["--cert", chain.escapedForCert, "--key", key])
        case .pkcs12(let path): words.append(["--cert-type", "P12", "--cert", path.escapedForCert])
        case nil: missing.append("--cert FILE --key FILE, for the certificate of the client")
        }
        if identity.files?.hasPassphrase == true {
            missing.append("--pass PASSPHRASE, for the key of the client")
        }
    }

    private mutating func addFields(over proxy: Proxy?) throws(HTTPError) {
        var headers = request.headers
        // Sent by the client to a proxy that forwards the request, and has no credentials of its own.
        let isForwarded =
            url.scheme == .http && request.addresses == nil && proxy?.lookup == .byProxy
            && proxy?.scheme != .socks5
        if !isForwarded || proxy?.credentials != nil { headers.remove("Proxy-Authorization") }
        // curl writes these itself, as the client does.
        for name in ["Host", "Content-Length", "Transfer-Encoding", "Connection"] { headers.remove(name) }
        addClientFields(to: &headers)
        headers.complete(with: request.contentFields)
        if headers.contains("Accept-Encoding") { words.append(["--compressed"]) }
        for field in redaction.shown(headers) {
            guard field.name.isToken else {
                throw HTTPError(.request, .http(.invalidRequestFieldName), url: url)
            }
            guard field.value.isFieldValue else {
                throw HTTPError(.request, .http(.invalidRequestFieldValue(name: field.name)), url: url)
            }
            let option = field.name.lowercased() == "proxy-authorization" ? "--proxy-header" : "--header"
            // curl takes a value of blanks for none, and a field without a value for one to leave out.
            let isBlank = field.value.utf8.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            words.append([option, isBlank ? "\(field.name);" : "\(field.name): \(field.value)"])
        }
        var own = ["User-Agent", "Accept"]
        if hasBody { own += ["Content-Type", "Expect"] }
        for name in own where !headers.contains(name) { words.append(["--header", "\(name):"]) }
    }

    /// Adds the fields that the client writes itself and curl does not.
    private func addClientFields(to headers: inout HTTPHeaders) {
        for field in request.connectionFields { headers[field.name] = field.value }
        // RFC 9110, section 10.1.1: not without content.
        if request.expectsContinue, request.body.bytesInMemory?.isEmpty != true {
            headers["Expect"] = "100-continue"
        }
    }

    private mutating func addBody() {
        guard hasBody else { return }
        if let path = request.body.filePath, !redaction.hidesBodies, !path.utf8.contains(0) {
            return words.append(["--data-binary", "@" + path.forDataOption])
        }
        var described = request.headers
        described.complete(with: request.contentFields)
        guard let bytes = request.body.bytesInMemory, bytes.count <= Self.longestBody,
            let shown = redaction.shown(body: bytes, of: described)
        else {
            missing.append("the body, which this command reads from its standard input")
            if request.body.isChunked { words.append(["--header", "Transfer-Encoding: chunked"]) }
            return words.append(["--data-binary", "@-"])
        }
        if let text = String(validating: shown, as: UTF8.self), text.isPlain {
            words.append(["--data-raw", text])
        } else {
            source = "printf '\(shown.map(\.octalEscape).joined())' | "
            words.append(["--data-binary", "@-"])
        }
    }

    /// Linux limits a word of a command to 128 KiB.
    private static let longestBody = 100_000
}

/// The decision of a client about the proxy for a request.
struct CurlProxy {
    /// The proxy; `nil` for none.
    let proxy: Proxy?
}

/// A word of a shell command.
enum ShellWord {
    /// Returns the word quoted for a POSIX shell, if it needs quotes. A word that a terminal would not show
    /// as it is becomes the output of `printf`.
    static func quoted(_ word: String) -> String {
        guard word.isEmpty || !word.utf8.allSatisfy({ plain.contains($0) }) else { return word }
        guard word.isPlain else { return "\"$(printf '\(word.utf8.map(\.octalEscape).joined())')\"" }
        return "'" + word.replacing(scalar: "'", with: #"'\''"#) + "'"
    }

    private static let plain = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,".utf8
    )
}

extension String {
    /// The path for `--cert`, after which curl expects a colon and the passphrase.
    fileprivate var escapedForCert: String {
        replacing(scalar: "\\", with: "\\\\").replacing(scalar: ":", with: "\\:")
    }
}

extension String {
    /// The path for `--data-binary @`, where `-` is the standard input.
    fileprivate var forDataOption: String { self == "-" ? "./-" : self }
}

extension HTTPHost {
    fileprivate var inURL: String {
        switch self {
        case .name(let name): "\(name)"
        case .address(let address): address.inURL
        }
    }
}

extension IPAddress {
    fileprivate var inURL: String { family == .v6 ? "[\(self)]" : "\(self)" }
}

extension String {
    fileprivate var isToken: Bool { HTTPMethod(validating: self) != nil }

    fileprivate var isFieldValue: Bool {
        unicodeScalars.allSatisfy { $0 == "\t" || $0.value >= 0x20 && $0.value != 0x7F }
    }

    /// Whether the text can stand in a command and be shown by a terminal, so that no reader sees another
    /// command.
    fileprivate var isPlain: Bool {
        unicodeScalars.allSatisfy { $0 == "\t" || $0 == "\n" || !$0.isDeceptive }
    }
}

extension UInt8 {
    /// The byte as an escape of `printf`.
    fileprivate var octalEscape: String {
        let digits = String(self, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }
}
