internal import TLSFixtures

/// A client that is a shell command with placeholders. It is given a URL, and either prints the content of
/// the response or exits with an error.
struct CommandClient: VectorClient {
    /// The shell command, with placeholders.
    let command: String
    /// The time after which the command counts as hung.
    var limit = Duration.seconds(6)

    init(_ command: String) {
        self.command = command
    }

    var facts: ClientDescription {
        ClientDescription(name: String(command.prefix { $0 != " " }), version: "", codings: [])
    }

    var width: Int { 8 }

    func run(_ job: Job) async -> JobOutcome {
        if let reason = unsupportedReason(for: job) { return .left(reason) }
        guard let request = job.requests.first, let route = job.routes.first,
            let address = route.addresses.first
        else { return .left("the vector gives no address") }
        let proxy = command.contains("{proxy}") ? JobProxy.start(for: job) : nil
        let line = filled(request, route, address: address, job, proxyPort: proxy?.port)
        let outcome = await onThread { [limit] in ShellCommand.run(line, within: limit * job.patience) }
        // The proxy stops when it is released.
        withExtendedLifetime(proxy) {}
        return result(of: outcome)
    }

    /// Returns why a command cannot do this job, or `nil` if it can.
    private func unsupportedReason(for job: Job) -> String? {
        let settings = job.settings
        guard let request = job.requests.first, job.requests.count == 1 else {
            return "a command makes one request"
        }
        if request.method != "GET" || !request.fields.isEmpty || request.body != nil {
            return "a command makes plain GET requests"
        }
        if job.time != nil { return "it cannot be told the time" }
        if settings.certificate != nil { return "it cannot be told which certificate to show" }
        if settings.versions != nil { return "it cannot be told which TLS versions to use" }
        if !settings.accepts.isEmpty { return "it cannot be told which faults to accept" }
        if !settings.resumes { return "it cannot be told not to resume" }
        if settings.follows || settings.decodes || !settings.fields.isEmpty || settings.leniency != nil
            || settings.limits != nil || settings.decoding != nil || !job.kept.isEmpty
        {
            return "a command has no further settings"
        }
        if settings.usesMap || settings.addressTexts != nil {
            return "it has no address map, or the vector gives no address"
        }
        if settings.ech != nil, !command.contains("{ech}") { return "it cannot be told an ECHConfigList" }
        if settings.dialling?.isOfAnotherKind == true { return "it cannot be told how to try addresses" }
        guard let route = job.routes.first, let address = route.addresses.first else {
            return "the vector gives no address"
        }
        if route.addresses.count > 1 && !command.contains("{addresses}") { return "it takes one address" }
        let port = ":\(route.port)"
        if route.addresses.contains(where: { !$0.hasSuffix(port) }) {
            return "its address cannot have a port"
        }
        if command.contains("{proxy}") && request.url.hasPrefix("http:") { return "the proxy is for https" }
        if !takesAddresses && address != route.authority { return "it cannot be told where to connect" }
        return nil
    }

    private var takesAddresses: Bool {
        ["{address}", "{addresses}", "{proxy}"].contains { command.contains($0) }
    }

    /// Returns the command with its placeholders replaced.
    private func filled(
        _ request: Job.Request,
        _ route: Job.Route,
        address: String,
        _ job: Job,
        proxyPort: UInt16?
    ) -> String {
        let addresses = route.addresses.map { $0.withoutPort }
        let values = [
            "{url}": Shell.quoted(request.url),
            "{host}": Shell.quoted(route.host),
            "{port}": String(route.port),
            "{address}": Shell.quoted(address.withoutPort),
            "{addresses}": Shell.quoted(addresses.joined(separator: ",")),
            "{ca}": Shell.quoted(job.roots),
            "{ech}": Shell.quoted(job.settings.ech ?? ""),
            "{proxy}": proxyPort.map { String($0) } ?? "",
        ]
        var line = command
        for (placeholder, value) in values { line = line.replacing(placeholder, with: value) }
        return line
    }

    private func result(of outcome: ShellCommand.Outcome) -> JobOutcome {
        let words = String(decoding: outcome.errors, as: UTF8.self).split(separator: "\n").joined(
            separator: "; "
        )
        switch outcome.ending {
        case .exited(0):
            // A command tells nothing but success and the content.
            let response = ReportedResponse(status: nil, fields: [], body: outcome.output)
            return .done([RequestOutcome(.response(response))])
        case .exited(let code) where code == 126 || code == 127:
            // The shell did not find the command.
            return .broken("not run: status \(code); \(words)")
        case .exited(let code):
            return .done([RequestOutcome(.failed(kind: nil, text: "failed with status \(code): \(words)"))])
        case .killed(let signal): return .crashed("killed by signal \(signal): \(words)")
        case .hung: return .hung("still running when its time was over")
        case .notStarted(let why): return .broken("not started: \(why)")
        }
    }
}

extension String {
    /// The address in an authority, without its port and brackets.
    fileprivate var withoutPort: String {
        guard let colon = lastIndex(of: ":") else { return self }
        let host = self[..<colon]
        return String(host.hasPrefix("[") ? host.dropFirst().dropLast() : host)
    }
}
