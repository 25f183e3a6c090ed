/// An option of the command.
struct CommandOption: Sendable {
    /// The identifiers of options.
    enum Key: Sendable, Hashable {
        case file, resolver, onlyIPv4, onlyIPv6, skipBad, shard
        case serverName, noServerName, skipDefault, allKeys, tls, certificate, privateKey, alpn, startTLS,
            proxyHeader, method, header, insecure
        case roots, minimumDays, warningDays, criticalDays, strict, expect, same, status
        case timeout, jobs, rate, retries, wait, repeats, interval, watch, baseline, resume
        case listen, listenAny, listenName
        case json, format, output, pem, verbose, quiet, color
        case demo, help, version
    }

    /// The completion of an option's value in a shell.
    enum Completion: Sendable, Hashable {
        case nothing
        case file
        case words([String])
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
    var short: Character?
    let long: String
    /// The placeholder for the value, or `nil` for an option without a value.
    var value: String?
    var completion = Completion.nothing
    let group: Group
    /// The text in `--help`: lines of at most 54 characters.
    let help: [String]
    /// The text in the manual page: full sentences.
    let manual: String

    var takesValue: Bool { value != nil }

    /// Whether the option has an effect only on a target that is a URL.
    var isForRequests: Bool {
        switch key {
        case .method, .header, .insecure, .status: true
        default: false
        }
    }
}
