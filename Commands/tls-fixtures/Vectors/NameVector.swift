internal import DirectJSON

/// A test of certificate verification: whether a certificate is accepted for a host.
struct NameVector: TopicVector {
    enum Verdict: String, Choice {
        case accept, refuse
    }

    var head: VectorHead
    /// The name of a file in `Fixtures/certificates`, without its extension.
    let certificate: String
    /// The host of the URL: a name, or an address without brackets.
    let identity: String
    /// The address that the server listens on. It plays no part in verification.
    @Or<Loopback> var address: String
    /// The faults that the client is told to accept.
    @OrEmpty var accept: [Ending]
    var verdict: Verdict { expect.verdict }
    /// The accepted reasons for a refusal. A certificate with several faults may be refused for any of them.
    var reasons: [Ending] { expect.reason?.wrappedValue ?? [] }
    /// The SNI that the client must send, or a null value if it must send none. `nil` if SNI is not checked.
    var serverName: String?? { expect.serverName }

    private let expect: Expectation

    private struct Expectation: Checked {
        var verdict: Verdict
        var reason: OneOrMore?
        var serverName: String??

        var fault: String? {
            (reason == nil) == (verdict == .accept)
                ? nil : "a refusal needs a reason, and an acceptance must not have one"
        }
    }

    enum Loopback: Fallback { static let value = "127.0.0.1" }
}
