/// The exit codes of the command. They are curl's if curl has a code for the cause.
enum ExitCode {
    static let passed: Int32 = 0
    static let severalReasons: Int32 = 1
    static let usage: Int32 = 64
    static let noInput: Int32 = 66
    static let bug: Int32 = 70
    static let unwritable: Int32 = 74
    static let interrupted: Int32 = 130

    /// The code that a shell reports for a process ended by this signal.
    static func interrupted(by signal: Int32) -> Int32 { 128 + signal }

    /// The codes and their meanings, for the manual page.
    static let meanings: [(code: Int32, meaning: String)] = [
        (passed, "Every probe passed."),
        (severalReasons, "Several probes failed, for different reasons."),
        (6, "The name was not resolved."),
        (7, "Refused, or unreachable."),
        (22, "The HTTP status is outside --status."),
        (28, "No answer within --timeout."),
        (35, "The handshake failed: an alert, the name refused, a reset, no TLS."),
        (56, "The connection was lost in the HTTP exchange."),
        (60, "The certificate is not acceptable: name, dates, issuer."),
        (usage, "The command line cannot be used."),
        (noInput, "A file cannot be read, or there is no target in it."),
        (bug, "A bug in sni-probe."),
        (unwritable, "The results cannot be written, as on a full disk."),
        (90, "The certificate is acceptable, but not for --expect, --same, --critical-days or --strict."),
        (interrupted, "Interrupted."),
    ]
}
