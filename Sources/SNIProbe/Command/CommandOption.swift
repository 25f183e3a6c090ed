/// One option of the command.
struct CommandOption: Sendable {
    /// What an option does, for the parser.
    enum Key: Sendable, Hashable {
        case file, onlyIPv4, onlyIPv6, skipBad, shard
        case serverName, noServerName, skipDefault, tls, method, header, insecure
        case roots, minimumDays, expect, same, status
        case timeout, jobs, rate, retries, wait
        case json, format, pem, verbose, quiet, color
        case demo, help, version, generate
    }

    /// What a shell may complete behind it.
    enum Completion: Sendable, Hashable {
        case nothing
        case file
        case words([String])
    }

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
    /// What the value is called; nil for an option without one.
    var value: String?
    var completion = Completion.nothing
    let group: Group
    /// For `--help`: lines of at most 54 characters.
    let help: [String]
    /// For the manual, in full sentences.
    let manual: String

    var takesValue: Bool { value != nil }
}
