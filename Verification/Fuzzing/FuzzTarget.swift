/// A part of the package with the rules that must hold for any input.
struct FuzzTarget: Sendable {
    let name: String
    /// Checks the rules for one input.
    let run: @Sendable (inout Choices) -> Void

    /// All targets, in the order in which `--list` prints them.
    static let all: [FuzzTarget] =
        [
            response, head, framing, chunks, request,
            url, reference,
            cookies, cookieFile, hsts, hstsFile, cacheFields, cacheEntry, date,
            dns, svcb, ech, httpdns, json, certificate, nameCheck, lines, events, charsets,
            challenges, client, proxy,
        ] + codings
}

/// Reports a broken rule. libFuzzer then writes the input to a file and ends.
func require(_ isKept: Bool, _ rule: @autoclosure () -> String) {
    if !isKept { fatalError("broken rule: \(rule())") }
}

/// Reports a broken rule unless both values are equal.
func requireEqual<Value: Equatable>(_ first: Value, _ second: Value, _ rule: @autoclosure () -> String) {
    if first != second { fatalError("broken rule: \(rule())\n  \(first)\n  \(second)") }
}
