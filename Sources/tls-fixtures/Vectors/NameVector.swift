internal import DirectJSON

/// A test of certificate verification: whether a certificate is accepted for a host.
struct NameVector: Sendable {
    enum Verdict: String, CaseIterable, Sendable {
        case accept, refuse
    }

    let head: VectorHead
    /// The name of a file in `Fixtures/certificates`, without its extension.
    let certificate: String
    /// The host of the URL: a name, or an address without brackets.
    let identity: String
    /// The address that the server listens on. It plays no part in verification.
    let address: String
    let verdict: Verdict
    /// The accepted reasons for a refusal. A certificate with several faults may be refused for any of them.
    let reasons: [Ending]
    /// The SNI that the client must send, or a null value if it must send none. `nil` if SNI is not checked.
    let serverName: String??

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldError) {
        self.head = head
        certificate = try fields.required("certificate", read: Read.text)
        identity = try fields.required("identity", read: Read.text)
        address = try fields.optional("address", read: Read.text) ?? "127.0.0.1"
        let expect = try fields.required("expect", read: Expectation.init)
        (verdict, reasons, serverName) = (expect.verdict, expect.reasons, expect.serverName)
    }

    private struct Expectation {
        var verdict: Verdict
        var reasons: [Ending]
        var serverName: String??

        init(_ value: JSONValue) throws(FieldError) {
            var fields = try Fields(value)
            verdict = try fields.required("verdict", read: Read.choice)
            reasons = try fields.optional("reason", read: Ending.readOneOrMore) ?? []
            serverName = try fields.optional("serverName", read: Read.textOrNull)
            guard reasons.isEmpty == (verdict == .accept) else {
                let what = "a refusal needs a reason, and an acceptance must not have one"
                throw FieldError(line: value.line, what: what)
            }
            try fields.end()
        }
    }
}
