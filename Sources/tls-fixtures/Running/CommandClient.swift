/// A client that is a shell command. It is given a URL, and either prints the body of the response or exits with an
/// error.
struct CommandClient: VectorClient {
    let title: String
    /// The shell command, with placeholders.
    let command: String
    let knowledge: Knowledge
    /// The time after which the command counts as hung.
    var limit = Duration.seconds(6)

    /// The known client whose further options can be used.
    enum Knowledge: Sendable {
        case nothing, curl, wget
    }

    /// Creates the client "curl" or "wget", or one from any other command.
    init(_ text: String) {
        switch text {
        case "curl":
            let options = "-q -sS --http1.1 --globoff --max-time 4 --connect-timeout 3 --noproxy '*'"
            self.init("curl", "curl \(options) --cacert {ca} {settings} {route} {url}", .curl)
        case "wget":
            let options = "-nv --no-config --no-hsts --tries=1 --timeout=3 -O - --max-redirect=0"
            let proxy = "-e use_proxy=yes -e https_proxy=http://127.0.0.1:{proxy}/"
            self.init("wget", "wget \(options) \(proxy) --ca-certificate={ca} {settings} {url}", .wget)
        default: self.init(String(text.prefix { $0 != " " }), text, .nothing)
        }
    }

    private init(_ title: String, _ command: String, _ knowledge: Knowledge) {
        (self.title, self.command, self.knowledge) = (title, command, knowledge)
    }

    var givesReasons: Bool { false }
    var takesBytes: Bool { false }
    var width: Int { 8 }

    func unsupportedReason(to errand: ClientTask) -> String? {
        guard let addresses = errand.addresses, let address = addresses.first, errand.mappedAddresses.isEmpty
        else {
            return "it has no address map, or the vector gives no address"
        }
        if errand.dialling.isOfAnotherKind { return "it cannot be told how to try addresses" }
        if errand.urls.count > 1 && knowledge != .curl { return "a command makes one request" }
        if knowledge == .nothing {
            if errand.client.certificate != nil { return "it cannot be told which certificate to show" }
            if errand.client.versions != nil { return "it cannot be told which TLS versions to use" }
            if !errand.client.resumes { return "it cannot be told not to resume" }
        }
        let hasPort = addresses.contains { $0.hasSuffix("]") == false && $0.count { $0 == ":" } == 1 }
        switch knowledge {
        case .curl:
            if addresses.count > 1 && (hasPort || errand.host.isAddress) {
                return "--resolve takes only names, and one port for all addresses"
            }
        case .wget, .nothing:
            if addresses.count > 1 && !command.contains("{addresses}") { return "it takes one address" }
            if hasPort { return "its address cannot have a port" }
            if command.contains("{proxy}") && errand.urls[0].hasPrefix("http:") {
                return "the proxy is for https"
            }
            if !takesAddresses && address != errand.host { return "it cannot be told where to connect" }
        }
        return nil
    }

    private var takesAddresses: Bool {
        ["{address}", "{addresses}", "{proxy}", "{route}"].contains { command.contains($0) }
    }

    func run(_ errand: ClientTask) async -> Observation {
        let address = errand.addresses?.first ?? errand.host
        var proxy: ConnectProxy?
        if command.contains("{proxy}") {
            proxy = ConnectProxy(to: address, port: errand.port)
            guard proxy != nil else { return Observation(ending: .other("no proxy"), text: "") }
        }
        let line = filled(errand, address: address, proxyPort: proxy?.port)
        let outcome = await onThread { [limit] in ChildProcess.run(line, within: limit) }
        _ = proxy
        return observation(of: outcome)
    }

    /// Returns the command with its placeholders replaced.
    private func filled(_ errand: ClientTask, address: String, proxyPort: UInt16?) -> String {
        let values = [
            "{url}": errand.urls.map(Self.quoted).joined(separator: " "),
            "{host}": Self.quoted(errand.host),
            "{port}": String(errand.port),
            "{address}": Self.quoted(address),
            "{addresses}": Self.quoted((errand.addresses ?? []).joined(separator: ",")),
            "{ca}": Self.quoted(errand.root),
            "{proxy}": proxyPort.map { String($0) } ?? "",
            "{route}": route(errand),
            "{settings}": settings(errand),
        ]
        var line = command
        for (placeholder, value) in values { line = line.replacing(placeholder, with: value) }
        return line
    }

    /// Returns curl's options for the addresses: `--resolve` accepts several addresses, `--connect-to` works with
    /// any host.
    private func route(_ errand: ClientTask) -> String {
        let addresses = (errand.addresses ?? []).map { address in
            address.count { $0 == ":" } > 1 && !address.hasPrefix("[") ? "[\(address)]" : address
        }
        guard addresses.count > 1 else {
            let address = addresses.first ?? ""
            let hasPort = address.contains(":") && !address.hasSuffix("]")
            return "--connect-to " + Self.quoted(hasPort ? "::\(address)" : "::\(address):\(errand.port)")
        }
        return "--resolve " + Self.quoted("\(errand.host):\(errand.port):\(addresses.joined(separator: ","))")
    }

    /// Returns the options for the TLS settings.
    private func settings(_ errand: ClientTask) -> String {
        let certificate = errand.client.certificate.map { Self.quoted("\(errand.certificates)/\($0).pem") }
        switch knowledge {
        case .nothing: return ""
        case .curl:
            var options: [String] = []
            if let versions = errand.client.versions {
                options.append(
                    "--tlsv\(versions.lowerBound.rawValue) --tls-max \(versions.upperBound.rawValue)"
                )
            }
            if let certificate { options.append("--cert \(certificate) --key \(certificate)") }
            if !errand.client.resumes { options.append("--no-sessionid") }
            return options.joined(separator: " ")
        case .wget:
            var options: [String] = []
            if let versions = errand.client.versions {
                let isOld = versions.upperBound == .tls12
                options.append(isOld ? "--ciphers='NORMAL:-VERS-TLS1.3'" : "--secure-protocol=TLSv1_3")
            }
            if let certificate { options.append("--certificate=\(certificate) --private-key=\(certificate)") }
            return options.joined(separator: " ")
        }
    }

    private func observation(of outcome: ChildProcess.Outcome) -> Observation {
        let words = String(decoding: outcome.errors, as: UTF8.self).split(separator: "\n").joined(
            separator: "; "
        )
        switch outcome.ending {
        case .exited(0):
            return Observation(ending: .answered, text: String(decoding: outcome.output, as: UTF8.self))
        case .exited(let code) where Self.isMisuse(code, knowledge: knowledge):
            return Observation(ending: .crashed("not run: status \(code)"), text: words)
        case .exited(let code): return Observation(ending: .other("failed with status \(code)"), text: words)
        case .killed(let signal):
            return Observation(ending: .crashed("killed by signal \(signal)"), text: words)
        case .hung: return Observation(ending: .crashed("still running after \(limit)"), text: words)
        case .notStarted(let why): return Observation(ending: .crashed("not started: \(why)"), text: words)
        }
    }

    /// Whether the command did not run at all: the shell did not find it, or it does not know one of its options.
    private static func isMisuse(_ status: Int32, knowledge: Knowledge) -> Bool {
        switch knowledge {
        case .curl, .wget: status == 126 || status == 127 || status == 2
        case .nothing: status == 126 || status == 127
        }
    }

    /// Quotes a text for the shell.
    private static func quoted(_ text: String) -> String {
        let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/:@%+=,"
        if !text.isEmpty && text.allSatisfy({ plain.contains($0) }) { return text }
        return "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
