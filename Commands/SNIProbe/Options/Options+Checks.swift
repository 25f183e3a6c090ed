internal import DirectCore
internal import DirectHTTP

/// Checks of the command line as a whole: options that contradict each other, or have no effect together.
extension Options {
    func checkTargets() throws(UsageError) {
        try checkOutput()
        try checkListening()
        try checkUpgrade()
        try checkRepeats()
        try checkDays()
        if settings.triesECH, settings.versions.upperBound < .tls13 {
            throw UsageError("--ech needs TLS 1.3, which --tls excludes")
        }
        guard files.isEmpty, !(words.isEmpty && listensForAny) else { return }
        guard !words.isEmpty else {
            throw UsageError(
                "no TARGET",
                hint:
                    "such as sni-probe www.example.com @203.0.113.7; --demo shows what it can do, --help the options"
            )
        }
        guard !targets.isEmpty else { throw UsageError(.noTarget) }
        try checkForgottenAt()
        try checkResolvers()
        guard requestOptions.isEmpty || hasURL else { throw requestOptionsWithoutRequest }
    }

    /// Refuses a report without files.
    func checkReport() throws(UsageError) {
        try checkQuiet()
        guard !files.isEmpty else {
            throw UsageError(
                "report needs the JSON lines of earlier runs: sni-probe report FILE...",
                hint: "- is standard input. To probe a host of this name: sni-probe report:443"
            )
        }
        guard let word = files.first(where: { $0.hasPrefix("@") }) else { return }
        throw UsageError(
            "report reads files, and \(quoted(word)) is an IP",
            hint:
                "to probe a host of this name: sni-probe report:443 \(PlainText.harmless(word, unicode: true))"
        )
    }

    private func checkQuiet() throws(UsageError) {
        if quiet { try refuse("--quiet", beside: ["--output": output != nil]) }
    }

    private func refuse(
        _ option: String,
        beside others: KeyValuePairs<String, Bool>
    ) throws(UsageError) {
        guard let other = others.first(where: \.value)?.key else { return }
        throw UsageError("\(option) and \(other) contradict each other")
    }

    /// Refuses standard input, which can be read only once.
    private func checkInput(of option: String) throws(UsageError) {
        guard files.contains("-") else { return }
        throw UsageError("\(option) reads its input in each round, and standard input can be read only once")
    }

    /// Refuses options for the output that have no effect together.
    private func checkOutput() throws(UsageError) {
        try checkQuiet()
        if resume != nil {
            // What --same compares with is known when all results are there.
            try refuse(
                "--resume",
                beside: [
                    "--same": same,
                    "--format \(format.rawValue)": [.nagios, .junit, .pem].contains(format),
                ]
            )
        }
        if anyGood {
            // The IPs of one target are in several shares.
            try refuse("--any-good", beside: ["--format nagios": format == .nagios, "--shard": shard != nil])
        }
        guard watch != nil else { return }
        try checkInput(of: "--watch")
        try refuse(
            "--watch",
            beside: ["--resume": resume != nil, "--wait": wait != nil, "--quiet": quiet]
        )
        guard output == nil, ![.text, .json].contains(format) else { return }
        throw UsageError(
            "--watch prints changes as text or JSON lines, not as \(format.rawValue)",
            hint: "--output FILE is replaced in each round, in any format"
        )
    }

    /// Refuses what makes no sense for a server of metrics, or would be dangerous.
    private func checkListening() throws(UsageError) {
        guard listen != nil else {
            guard listensForAny || listenNames.count > 1 || modulesFile != nil else { return }
            throw UsageError(
                "--listen-any, --listen-name and --modules are for --listen",
                hint: "such as --listen 127.0.0.1:9115"
            )
        }
        try checkInput(of: "--listen")
        try refuse(
            "--listen",
            beside: [
                "--output": output != nil, "--baseline": baseline != nil, "--resume": resume != nil,
                "--wait": wait != nil, "--quiet": quiet, "--verbose": verbose,
                "--format \(format.rawValue)": ![.text, .prometheus].contains(format),
            ]
        )
        guard listensForAny, settings.identity != nil || !settings.headers.isEmpty else { return }
        throw UsageError(
            "--listen-any and \(settings.identity != nil ? "--cert" : "--header") contradict each other",
            hint: "a request could have it shown to any server"
        )
    }

    /// Refuses an IP beside a host without IPs: the IP was most likely meant for the host, and its @ was
    /// forgotten.
    private func checkForgottenAt() throws(UsageError) {
        guard targets.count == words.count,
            let address = targets.first(where: { $0.target.host.name == nil && $0.target.url == nil })?
                .target,
            let host = targets.first(where: { $0.target.host.name != nil && $0.own.isEmpty })?.target
        else { return }
        throw UsageError(
            "\(address.word) is a target of its own here, and \(host.word) has no IP",
            hint: "did you mean @\(address.word)?"
        )
    }

    private func checkResolvers() throws(UsageError) {
        // With --ech resolvers are asked for HTTPS records, whatever addresses there are.
        guard !resolvers.isEmpty, !settings.triesECH else { return }
        let hasAddresses = targets.count < words.count
        guard hasAddresses || !targets.contains(where: \.own.isEmpty) else { return }
        throw UsageError("--resolver has no effect: every target has its IPs", hint: "leave out the IPs")
    }

    private func checkUpgrade() throws(UsageError) {
        guard let upgrade = settings.upgrade, hasURL else { return }
        throw UsageError(
            "--starttls \(upgrade.rawValue) is for hosts, and a target is a URL",
            hint: "such as sni-probe mail.example.com --starttls smtp"
        )
    }

    private func checkRepeats() throws(UsageError) {
        if settings.interval > .zero, settings.repeats == 1 {
            throw UsageError(
                "--interval is the time between the handshakes of --repeat",
                hint: "such as --repeat 10"
            )
        }
        guard settings.repeats > 1, !targets.allSatisfy(\.target.usesTLS) else { return }
        throw UsageError(
            "--repeat counts handshakes, and a target is http://",
            hint: "use https:// or a bare host"
        )
    }

    func checkDays() throws(UsageError) {
        for (name, warning, critical) in [
            ("days", settings.warningDays, settings.minimumDays),
            ("status-days", settings.warningStatusDays, settings.minimumStatusDays),
        ] {
            guard let warning, let critical, warning <= critical else { continue }
            throw UsageError(
                "--warn-\(name) \(warning) never warns: with fewer than \(critical) days left the probe fails",
                hint: "--warn-\(name) takes more days than --critical-\(name)"
            )
        }
    }

    /// The error for options that concern a request if no target is a URL.
    var requestOptionsWithoutRequest: UsageError {
        let names = requestOptions.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let verb = names.count == 1 ? "is" : "are"
        return UsageError(
            "\(names.joined(separator: ", ")) \(verb) for requests, and no target is a URL",
            hint: "a URL sends a request, a bare host does not: https://www.example.com/"
        )
    }
}
