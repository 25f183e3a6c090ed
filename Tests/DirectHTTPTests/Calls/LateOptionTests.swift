import DirectCore
import DirectHTTP1
import DirectTestCommands
@testable import DirectTransport
import Testing

@testable import DirectHTTP

@Suite("Options that are set too late", .idleLimit)
struct LateOptionTests {
    private func client(_ interceptor: @escaping Interceptor) -> HTTPClient {
        Script((200, [:])).client { $0.networkInterceptors = [interceptor] }
    }

    private func option(in error: HTTPError) -> String? {
        if case .settings(.setTooLate(let option)) = error.reason { option } else { nil }
    }

    /// Sets an option that is read before requests go to the network.
    struct Change: Sendable {
        let name: String
        let reader: OptionRule.Reader
        let make: @Sendable (inout Request) throws -> Void

        static let all =
            OptionRule.all.filter { $0.reader < .sending }.map { rule in
                Change(name: rule.name, reader: rule.reader) {
                    rule.clear(&$0.options)
                    rule.inherit(into: &$0.options, from: try RequestOptionTests.full().options)
                }
            } + [
                Change(name: "authenticator", reader: .hop) {
                    try $0.setURL(HTTPURL("http://user:word@a.test/"))
                }
            ]
    }

    @Test("The options that the pages name are read early, some when the call begins")
    func early() {
        let ofCall = Set(Change.all.filter { $0.reader == .call }.map(\.name))
        let others = Set(Change.all.map(\.name)).subtracting(ofCall)
        #expect(ofCall.isSuperset(of: ["timeouts", "redirects", "hedging"]))
        #expect(others.isSuperset(of: ["retries", "authenticator"]))
    }

    @Test(
        "What a network interceptor sets without effect is an error that names it",
        arguments: Change.all,
        [true, false]
    )
    func network(change: Change, isCopy: Bool) async throws {
        let client = client(isCopy ? copying(change.make) : anew(change.make))
        for hasOptions in [false, true] {
            var request = Request(.get, "http://a.test/")
            if hasOptions {
                request.timeouts.total = .seconds(100)
                request.redirects = .deliver
                request.retries = RetryPolicy()
                request.hedging = .off
            }
            let error = try await httpError { [request] in try await client.fetch(request) }
            #expect(option(in: error) == change.name && error.url?.host.description == "a.test")
            #expect("\(error)".contains("\(change.name) of a request is set where it has no effect"))
            #expect(!"\(error)".contains("word") && !error.isWorthRetrying)
        }
    }

    @Test("A network interceptor may copy the options that it sees, one by one, and set what has effect")
    func unchanged() async throws {
        var request = Request(.get, "http://a.test/")
        request.timeouts.total = .seconds(100)
        request.redirects = RedirectPolicy()
        request.redirects?.decide = { $0.next }
        request.retries = RetryPolicy()
        request.hedging = HedgingPolicy()
        let client = Script((200, [:])).client {
            $0.networkInterceptors = [
                { request, forward in
                    var built = Request(request.method, try request.url)
                    built.timeouts = request.timeouts
                    built.redirects = request.redirects
                    built.retries = request.retries
                    built.hedging = request.hedging
                    built.onDownload = { _ in }
                    built.addressMap = StaticMap()
                    return try await forward(built)
                }, anew { _ in },
            ]
        }
        #expect(try await client.fetch(request).status == 200)
    }

    @Test("Each part of a policy that a network interceptor changes counts as a change")
    func changedPolicy() async throws {
        var request = Request(.get, "http://a.test/")
        request.redirects = RedirectPolicy()
        request.retries = RetryPolicy()
        request.hedging = HedgingPolicy()
        let changes: [@Sendable (inout Request) -> Void] = [
            { $0.redirects?.limit = 1 }, { $0.redirects?.insecureAllowsDowngrade = true },
            { $0.redirects?.carriesBodyAcrossOrigins = false }, { $0.redirects?.sendsReferer = true },
            { $0.redirects?.extraCrossOriginFields = ["A"] }, { $0.redirects?.longestDelay = .zero },
            { $0.redirects?.decide = { $0.next } }, { $0.redirects?.isFollowing = false },
            { $0.retries?.attempts = 9 }, { $0.retries?.statuses = [] },
            { $0.retries?.retriesFailures = false }, { $0.retries?.repeatsAnyMethod = true },
            { $0.retries?.delay = .zero }, { $0.retries?.longestDelay = .zero },
            { $0.retries?.budget = nil }, { $0.hedging?.delay = .fixed(.zero) },
            { $0.hedging?.shortestDelay = .zero }, { $0.hedging?.budget = nil },
            { $0.hedging?.isHedging = false },
        ]
        for change in changes {
            let client = client(copying(change))
            let error = try await httpError { [request] in try await client.fetch(request) }
            #expect(option(in: error) != nil)
        }
    }

    @Test("What a decision about a redirect sets without effect is an error, and what has effect is none")
    func redirect() async throws {
        for change in Change.all {
            let script = Script.redirecting(302, "/next")
            let client = script.client {
                $0.redirects.decide = { redirect in
                    var next = redirect.next
                    try change.make(&next)
                    return next
                }
            }
            guard change.reader == .call else {
                #expect(try await client.get("http://a.test/").status == 200)
                continue
            }
            let error = try await httpError { try await client.get("http://a.test/") }
            #expect(option(in: error) == change.name && script.requests.count == 1)
        }
    }
}
