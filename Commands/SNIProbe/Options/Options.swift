internal import DirectCore
internal import DirectHTTP
internal import DirectHello

/// The parsed command line.
struct Options: Sendable {
    /// The output formats.
    enum Format: String, Sendable, CaseIterable {
        case text, json, prometheus, nagios, junit, sarif, pem

        /// Returns this format, unless another one was chosen before.
        func chosen(after other: Format) throws(UsageError) -> Format {
            guard other == .text || other == self else {
                throw UsageError(
                    "\(other.rawValue) and \(rawValue) contradict each other: one form at a time"
                )
            }
            return self
        }
    }

    /// The commands that run instead of probing.
    enum Detour: Sendable, Equatable {
        case help
        case version
        case demo
    }

    var settings = ProbeSettings()
    var words: [TargetWord] = []
    var files: [String] = []
    var family: IPAddress.Family?
    /// The resolvers that are asked for addresses; none stands for the system's.
    var resolvers: [ResolverSpec] = []
    var skipsBad = false
    /// The files of the client's certificate and its key.
    private var certificateFile: String?
    private(set) var keyFile: String?
    /// The passphrase of the file of `check`.
    private(set) var passphrase: String?
    var shard: Shard?
    var same = false
    /// Whether one IP that passes is enough for a target.
    var anyGood = false
    /// The options of the command line that concern a request, and have no effect on a handshake alone.
    var requestOptions: [String] = []
    /// The number of probes at the same time; `nil` for 64 and those that only wait.
    var jobs: Int?
    var rate: Double?
    var wait: Duration?
    var format = Format.text
    /// The file that the results replace; `nil` for standard output.
    var output: String?
    /// The results of an earlier run.
    var baseline: String?
    /// The results of a run that was interrupted.
    var resume: String?
    /// The options that change what a result means, as the JSON output names them.
    private(set) var meaning: [String] = []
    /// What may be a file that is read: `--output` must not be one of them.
    private(set) var inputs: [String] = []
    /// All that may be a file or a folder that is read, with standard input and what the environment names.
    var readFiles: [String] {
        let variables = [
            "SSL_CERT_FILE", "SSL_CERT_DIR", "SNI_PROBE_ALIBABA_SECRET_FILE", "SNI_PROBE_DNSPOD_TOKEN_FILE",
        ]
        let named = variables.compactMap { Console.variable($0) }
        return inputs + named.flatMap { [$0] + $0.split(separator: ":").map(String.init) } + ["/dev/stdin"]
    }
    /// The time between two rounds of a run without an end.
    var watch: Duration?
    /// Where metrics are served.
    var listen: Endpoint?
    /// Whether requests may name targets that are not on the list.
    var listensForAny = false
    /// The file with the modules of requests.
    var modulesFile: String?
    var listenNames: Set<String> = ["localhost"]
    var verbose = false
    var quiet = false
    var color = ColorChoice.auto
    var detour: Detour?

    /// Whether some target may need TLS. The targets of files are not known yet.
    var mayUseTLS: Bool { !files.isEmpty || targets.contains { $0.target.usesTLS } }

    /// Whether the command line has a URL. Files may have others.
    var hasURL: Bool { targets.contains { $0.target.url != nil } }

    /// The targets of the command line, each with its own addresses.
    var targets: [(target: ProbeTarget, own: [ProbeAddresses])] {
        words.compactMap { if case .target(let target, let own) = $0 { (target, own) } else { nil } }
    }

    /// The value of `--shard`: every Nth probe, beginning with the Kth.
    struct Shard: Sendable, Equatable {
        var number: Int
        var count: Int

        /// Whether the probe at this index belongs to the shard.
        func takes(_ index: Int) -> Bool { index % count == number - 1 }
    }

    /// Creates the default options.
    init() {}

    /// Parses the command line without the program's name.
    ///
    /// - Throws: ``UsageError`` if it cannot be used.
    init(_ arguments: [String]) throws(UsageError) {
        let arguments = try Arguments(arguments)
        if arguments.wantsHelp {
            detour = .help
            return
        }
        for (option, value) in arguments.options {
            try take(option, value: value)
            if option.isForRequests { requestOptions.append("--" + option.long) }
        }
        guard detour == nil else { return }
        guard passphrase == nil else {
            throw UsageError("--passphrase is for sni-probe check", hint: "--key takes a file without one")
        }
        for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
            if let path = Console.variable(name) { add(meaning: "\(name) \(path)") }
        }
        settings.identity = try IdentityFiles.identity(certificate: certificateFile, key: keyFile)
        try takeWords(arguments.words[...])
        try checkTargets()
    }

    private mutating func takeWords(_ arguments: ArraySlice<String>) throws(UsageError) {
        do throws(TargetError) {
            for word in arguments { words.append(try TargetWord(word)) }
        } catch {
            throw UsageError(error)
        }
    }

    /// Parses the arguments after the word `report`: options, and the files with JSON lines.
    ///
    /// - Returns: `nil` if help is wanted.
    static func ofReport(_ arguments: [String]) throws(UsageError) -> Options? {
        let arguments = try Arguments(arguments)
        guard !arguments.wantsHelp else { return nil }
        let formats = formatsOfReport.map(\.rawValue)
        for (option, value) in arguments.options where option.key == .format && !formats.contains(value) {
            throw UsageError(
                "a report cannot be written as \(quoted(value))",
                hint: "its formats are \(formats.joined(separator: ", "))"
            )
        }
        let hint = "a report takes --format, --json, --output, --skip-bad, --quiet and --color"
        var options = try Options(arguments, taking: keysOfReport, of: "a report", hint: hint)
        options.files = arguments.words
        options.inputs += arguments.words
        try options.checkReport()
        return options
    }

    /// Takes the options of `report` or `check`, which are some of those of a probe.
    private init(
        _ arguments: Arguments,
        taking keys: Set<CommandOption.Key>,
        of what: String,
        hint: String
    ) throws(UsageError) {
        self.init()
        for (option, value) in arguments.options {
            guard keys.contains(option.key) else {
                throw UsageError("--\(option.long) has no effect on \(what)", hint: hint)
            }
            try take(option, value: value)
        }
    }

    private static let keysOfReport: Set<CommandOption.Key> = [
        .json, .format, .output, .skipBad, .quiet, .color,
    ]

    /// The formats whose memory does not grow with the number of results.
    private static let formatsOfReport: [Format] = [.text, .json, .sarif]

    /// Parses the arguments after the word `check`: options, the file, and the names.
    ///
    /// - Throws: ``UsageError`` for options that concern connections, and without a file.
    static func ofCheck(_ arguments: [String]) throws(UsageError) -> (options: Options, file: String)? {
        let arguments = try Arguments(arguments)
        guard !arguments.wantsHelp else { return nil }
        let hint = "sni-probe check FILE [--key FILE] [NAME...]; what to accept and the output have options"
        var options = try Options(arguments, taking: keysOfCheck, of: "a file", hint: hint)
        guard let file = arguments.words.first else {
            throw UsageError(
                "check needs a file of certificates: sni-probe check FILE [NAME...]",
                hint: "- is standard input. To probe a host of this name: sni-probe check:443"
            )
        }
        options.inputs.append(file)
        try options.takeWords(arguments.words.dropFirst())
        guard !options.words.contains(where: \.isBesideCheck) else {
            throw UsageError(
                "check connects to nothing, and takes names alone",
                hint: "sni-probe check FILE [NAME...]"
            )
        }
        try options.checkDays()
        return (options, file)
    }

    private static let keysOfCheck: Set<CommandOption.Key> = [
        .privateKey, .passphrase, .roots, .warningDays, .criticalDays, .strict, .expect,
        .json, .format, .output, .pem, .verbose, .quiet, .color,
    ]

    /// These with the options of a module of `--listen`. What needs other roots, versions or certificates is
    /// not among them: they are those of the program.
    func with(module arguments: [String]) throws(UsageError) -> Options {
        let arguments = try Arguments(arguments)
        guard arguments.words.isEmpty else { throw UsageError("a module has options and no targets") }
        var options = self
        for (option, value) in arguments.options {
            guard Self.keysOfModule.contains(option.key) else {
                throw UsageError("--\(option.long) is not for modules", hint: "it is for the command line")
            }
            try options.take(option, value: value)
        }
        try options.checkDays()
        return options
    }

    private static let keysOfModule: Set<CommandOption.Key> = [
        .serverName, .noServerName, .skipDefault, .deep, .versions, .postQuantum, .longHello, .alpn,
        .startTLS,
        .proxy, .proxyHeader, .method, .insecure, .revocation, .criticalDays, .warningDays,
        .criticalStatusDays, .warningStatusDays, .strict, .expect, .status, .timeout, .retries, .repeats,
    ]

    private mutating func take(_ option: CommandOption, value: String) throws(UsageError) {
        if let words = option.meaning(of: value) { add(meaning: words) }
        if option.readsFile { inputs.append(value) }
        switch option.group {
        case .input: try takeInput(option, value: value)
        case .sending: try takeSending(option, value: value)
        case .accepting: try takeAccepting(option, value: value)
        case .running: try takeRunning(option, value: value)
        case .output: try takeOutput(option, value: value)
        case .other: detour = option.key == .demo ? .demo : .version
        }
    }

    private mutating func add(meaning words: String) {
        guard !meaning.contains(words) else { return }
        meaning.append(words)
        meaning.sort()
    }

    private mutating func takeInput(_ option: CommandOption, value: String) throws(UsageError) {
        switch option.key {
        case .file: files.append(value)
        case .resolver:
            let spec = try ResolverSpec(value)
            if !resolvers.contains(spec) { resolvers.append(spec) }
        case .onlyIPv4, .onlyIPv6:
            let wanted = option.key == .onlyIPv4 ? IPAddress.Family.v4 : .v6
            guard family == nil || family == wanted else {
                throw UsageError("-4 and -6 contradict each other")
            }
            family = wanted
        case .skipBad: skipsBad = true
        default: shard = try OptionValue(option, value).shard
        }
    }

    private mutating func takeSending(_ option: CommandOption, value: String) throws(UsageError) {
        switch option.key {
        case .serverName, .noServerName:
            guard settings.serverName == .host else {
                throw UsageError("--no-sni and --sni contradict each other")
            }
            settings.serverName =
                option.key == .noServerName ? .none : .other(try OptionValue(option, value).name)
        case .skipDefault: settings.skipsDefault = true
        case .deep: settings.isDeep = true
        case .ech: settings.triesECH = true
        case .versions: settings.surveys.insert(.versions)
        case .postQuantum: settings.surveys.insert(.postQuantum)
        case .longHello: settings.surveys.insert(.sizes)
        case .certificate: certificateFile = value
        case .privateKey: keyFile = value
        case .passphrase: passphrase = try OptionValue(option, value).secret
        case .alpn: settings.protocols = try OptionValue(option, value).protocols
        case .startTLS:
            guard let upgrade = StartTLS(rawValue: value) else {
                let names = StartTLS.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError(
                    "--starttls does not take \(quoted(value))",
                    hint: "the protocols are \(names)"
                )
            }
            settings.upgrade = upgrade
        case .proxy:
            let user = Console.variable("SNI_PROBE_PROXY_USER")
            settings.proxy = TunnelProxy(try OptionValue(option, value).proxy, user: user)
        case .proxyHeader:
            settings.proxyHeader = ProxyHeader(rawValue: try OptionValue(option, value).number(in: 1...2))
        case .tls: settings.versions = try OptionValue(option, value).tlsVersion
        case .method:
            guard let method = HTTPMethod(validating: value) else {
                throw UsageError("\(quoted(value)) is not a method")
            }
            guard method != .connect else {
                throw UsageError("CONNECT is for proxies, and sni-probe uses none")
            }
            settings.method = method
        case .header:
            let field = try OptionValue(option, value).field
            settings.headers.add(field.name, field.value)
        default: settings.insecure = true
        }
    }

    private mutating func takeAccepting(_ option: CommandOption, value: String) throws(UsageError) {
        switch option.key {
        case .roots:
            try CertificateFiles.addStore(value, to: &settings.stores)
            settings.roots = settings.stores[0].roots
        case .revocation: settings.asksIssuers = true
        case .criticalDays:
            settings.minimumDays = try OptionValue(option, value).number(in: 0...36_500)
        case .warningDays:
            settings.warningDays = try OptionValue(option, value).number(in: 0...36_500)
        case .criticalStatusDays:
            settings.minimumStatusDays = try OptionValue(option, value).number(in: 0...36_500)
        case .warningStatusDays:
            settings.warningStatusDays = try OptionValue(option, value).number(in: 0...36_500)
        case .strict: settings.isStrict = true
        case .expect:
            for expected in try OptionValue(option, value).expected {
                settings.expected.append(expected)
                add(meaning: "--expect \(expected)")
            }
        case .same: same = true
        case .anyGood: anyGood = true
        case .baseline: baseline = value
        default: settings.acceptedStatus = try OptionValue(option, value).statusRanges
        }
    }

    private mutating func takeRunning(_ option: CommandOption, value: String) throws(UsageError) {
        switch option.key {
        case .resume: return resume = value
        case .listenAny: return listensForAny = true
        case .modules: return modulesFile = value
        default: break
        }
        let value = OptionValue(option, value)
        switch option.key {
        case .timeout: settings.timeout = try value.duration
        case .jobs: jobs = try value.number(in: 1...1000)
        case .rate: rate = try value.rate
        case .watch: watch = try value.duration
        case .repeats: settings.repeats = try value.number(in: 1...10_000)
        case .interval: settings.interval = try value.duration
        case .listen: listen = try value.listener
        case .listenName: listenNames.insert(try value.name.lowercased())
        case .retries: settings.retries = try value.number(in: 0...100)
        default: wait = try value.duration
        }
    }

    private mutating func takeOutput(_ option: CommandOption, value: String) throws(UsageError) {
        switch option.key {
        case .json: format = try Format.json.chosen(after: format)
        case .output: output = value
        case .format:
            guard let format = Format(rawValue: value), format != .pem else {
                throw UsageError(
                    "\(quoted(value)) is not a format",
                    hint: "the formats are text, json, prometheus, nagios, junit and sarif"
                )
            }
            self.format = try format.chosen(after: self.format)
            settings.confirmsInTime = format == .nagios
        case .pem: format = try Format.pem.chosen(after: format)
        case .verbose: verbose = true
        case .quiet: quiet = true
        default: color = try OptionValue(option, value).color
        }
    }
}

extension TargetWord {
    /// Whether it is something else than a name.
    fileprivate var isBesideCheck: Bool {
        guard case .target(let target, let own) = self else { return true }
        return target.url != nil || target.host.name != nil && !own.isEmpty
    }
}
