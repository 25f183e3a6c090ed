internal import DirectJSON

/// Whether a certificate proves that this is who was asked for.
struct NameVector: Sendable {
    enum Verdict: String, CaseIterable, Sendable {
        case accept, refuse
    }

    let head: VectorHead
    /// A file of `Fixtures/certificates`, without its ending.
    let certificate: String
    /// The host of the URL: a name, or an address without brackets.
    let identity: String
    /// Where the server listens, which is nobody's business but the socket's.
    let address: String
    let verdict: Verdict
    /// Why it is refused; any of these will do, where a certificate has several faults.
    let reasons: [Ending]
    /// What the client says in its SNI: nothing, or one value, which may be that it sends none.
    let serverName: String??

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldFault) {
        self.head = head
        certificate = try fields.required("certificate", Read.text)
        identity = try fields.required("identity", Read.text)
        address = try fields.optional("address", Read.text) ?? "127.0.0.1"
        let expect = try fields.required("expect", Expectation.init)
        (verdict, reasons, serverName) = (expect.verdict, expect.reasons, expect.serverName)
    }

    private struct Expectation {
        var verdict: Verdict
        var reasons: [Ending]
        var serverName: String??

        init(_ value: JSONValue) throws(FieldFault) {
            var fields = try Fields(value)
            verdict = try fields.required("verdict", Read.choice)
            reasons = try fields.optional("reason", Ending.readOneOrMore) ?? []
            serverName = try fields.optional("serverName", Read.textOrNull)
            guard reasons.isEmpty == (verdict == .accept) else {
                throw FieldFault(line: value.line, what: "a refusal has a reason, and nothing else has")
            }
            try fields.end()
        }
    }
}
