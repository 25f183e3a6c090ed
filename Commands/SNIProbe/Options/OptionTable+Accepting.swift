extension CommandOption {
    /// What a probe accepts.
    static let acceptingOptions = [
        CommandOption(
            key: .roots,
            long: "ca",
            value: "FILE|DIR",
            completion: .file,
            group: .accepting,
            help: ["these roots instead of the system's (may repeat)"],
            manual:
                "Trust the certificates in this file (PEM or DER) or directory instead of the system's. May repeat."
        ),
        CommandOption(
            key: .minimumDays,
            long: "min-days",
            value: "N",
            group: .accepting,
            help: ["at least N days left"],
            manual: "Fail a certificate that has fewer than N days left."
        ),
        CommandOption(
            key: .criticalDays,
            long: "critical-days",
            value: "N",
            group: .accepting,
            help: ["the same; for --format nagios CRITICAL"],
            manual: "The same as --min-days. With --format nagios it is CRITICAL then, and not WARNING."
        ),
        CommandOption(
            key: .warningDays,
            long: "warn-days",
            value: "N",
            group: .accepting,
            help: ["a warning with fewer than N days left"],
            manual:
                "Warn of a certificate that has fewer than N days left. Without it there is a warning if less than two "
                + "weeks and less than a third of the validity are left. With --format nagios too few days for "
                + "--min-days are CRITICAL then."
        ),
        CommandOption(
            key: .strict,
            long: "strict",
            group: .accepting,
            help: ["warnings are faults"],
            manual: "Fail every probe that has a warning, with status 90."
        ),
        CommandOption(
            key: .expect,
            long: "expect",
            value: "CERT",
            completion: .file,
            group: .accepting,
            help: ["PEM file, sha256:HEX, pin-sha256:BASE64; may repeat"],
            manual: "Fail every certificate except this one: a PEM file, sha256:HEX of the certificate, or "
                + "pin-sha256:BASE64 of its key. May repeat; one of them must match."
        ),
        CommandOption(
            key: .same,
            long: "same",
            group: .accepting,
            help: ["the same certificate on every IP of a host"],
            manual:
                "Fail IPs of a host that show another certificate than most of them. Results are printed when all are "
                + "there, or 4096 of them."
        ),
        CommandOption(
            key: .baseline,
            long: "baseline",
            value: "FILE",
            completion: .file,
            group: .accepting,
            help: ["warn of what is other than in this JSON output"],
            manual:
                "Compare with an earlier run, whose --json output this is. A result that is other than before (the "
                + "certificate, the faults, the SNI verdict) has a warning; the summary counts what is new, gone and other."
        ),
        CommandOption(
            key: .status,
            long: "status",
            value: "LIST",
            group: .accepting,
            help: ["default 200-399"],
            manual: "Accept these HTTP statuses, such as 200,301-308; 200-399 if not given."
        ),
    ]
}
