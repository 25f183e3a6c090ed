/// An option of the command.
struct CommandOption: Sendable {
    /// The identifiers of options.
    enum Key: Sendable, Hashable {
        case file, resolver, onlyIPv4, onlyIPv6, skipBad, shard
        case serverName, noServerName, skipDefault, deep, ech, versions, postQuantum, longHello, tls,
            certificate, privateKey,
            passphrase, alpn,
            startTLS,
            proxy, proxyHeader, method, header, insecure
        case roots, revocation, warningDays, criticalDays, warningStatusDays, criticalStatusDays,
            strict, expect, same, anyGood, status
        case timeout, jobs, rate, retries, wait, repeats, interval, watch, baseline, resume
        case listen, listenAny, listenName, modules
        case json, format, output, pem, verbose, quiet, color
        case demo, help, version
    }

    /// The groups of options, with their headings in `--help` and the manual.
    enum Group: String, CaseIterable, Sendable {
        case input = "where to connect"
        case sending = "what to send"
        case accepting = "what to accept"
        case running = "how to run"
        case output = "output"
        case other = "other"
    }

    let key: Key
    let long: String
    /// The placeholder for the value, or `nil` for an option without a value.
    let value: String?
    let short: Character?
    var group = Group.other
    /// The text in `--help`: lines of at most 54 characters.
    let help: [String]

    init(_ key: Key, _ long: String, _ value: String? = nil, short: Character? = nil, help: String...) {
        (self.key, self.long, self.value, self.short, self.help) = (key, long, value, short, help)
    }

    var takesValue: Bool { value != nil }

    /// Whether its value has the path of what is read. The file of `--resume` may be written again.
    var readsFile: Bool {
        key != .resume && key != .output && ["FILE", "ROOTS", "CERT", "SPEC", "SOURCE"].contains(value)
    }

    /// The option as the JSON output names it, if it changes what a result means: with its value only where
    /// that is certain to be no secret.
    func meaning(of value: String) -> String? {
        guard [.sending, .accepting].contains(group) && key != .anyGood || key == .repeats else { return nil }
        switch key {
        case .serverName, .tls, .certificate, .privateKey, .alpn, .startTLS, .proxy, .proxyHeader, .method,
            .roots, .warningDays, .criticalDays, .warningStatusDays, .criticalStatusDays, .baseline, .status,
            .repeats:
            return "--\(long) \(value)"
        // Its certificates count, and not the name of their file.
        case .expect: return nil
        case .header: return "--\(long) \(value.prefix { $0 != ":" }.lowercased())"
        default: return "--\(long)"
        }
    }

    /// Whether the option has an effect only on a target that is a URL.
    var isForRequests: Bool {
        switch key {
        case .method, .header, .insecure, .status: true
        default: false
        }
    }
}
