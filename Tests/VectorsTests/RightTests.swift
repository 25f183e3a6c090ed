import DirectJSON
import DirectTestCommands
import Testing

@testable import tls_fixtures

/// A client that refuses every request, and connects to nothing.
private struct RefusingClient: VectorClient {
    var facts: ClientDescription { ClientDescription(name: "refusing", version: "", codings: []) }
    var width: Int { 8 }

    func run(_ job: Job) async -> JobOutcome {
        .done(job.requests.map { _ in RequestOutcome(.failed(kind: nil, text: "no")) })
    }
}

/// A client that reports the same response to every request, without connecting.
private struct RecitingClient: VectorClient {
    let response: ReportedResponse
    var facts: ClientDescription { ClientDescription(name: "reciting", version: "", codings: []) }
    var width: Int { 8 }

    func run(_ job: Job) async -> JobOutcome {
        .done(job.requests.map { _ in RequestOutcome(.response(response)) })
    }
}

/// Our client with a part of its jobs changed, under another name.
private struct OtherClient: VectorClient {
    var facts: ClientDescription { ClientDescription(name: "other", version: "", codings: []) }
    var width: Int { 8 }
    let change: @Sendable (inout Job) -> Void

    func run(_ asked: Job) async -> JobOutcome {
        var job = asked
        change(&job)
        return await OurClient().run(job)
    }
}

/// Our client, which tells by a response what it could not reach, as a cache may.
private struct GatewayClient: VectorClient {
    var facts: ClientDescription { ClientDescription(name: "gateway", version: "", codings: []) }
    var width: Int { 8 }

    func run(_ job: Job) async -> JobOutcome {
        guard case .done(let outcomes) = await OurClient().run(job) else { return .left("it did not run") }
        let answer = ReportedResponse(status: 504, fields: [], body: [])
        return .done(outcomes.map { $0.response == nil ? RequestOutcome(.response(answer)) : $0 })
    }
}

@Suite("The right by which a vector judges", .idleLimit)
struct RightTests {
    private static let folder = try? VectorFolder(fixtures: checkedInFixtures)

    private func row(_ name: String, _ client: some VectorClient) async throws -> Row {
        let folder = try #require(Self.folder)
        let vector = try #require(folder.vector(name), "\(name)")
        let authority = try WireAuthority(certificates: folder.certificates)
        return await VectorRunner(client: client, folder: folder, authority: authority).run(vector)
    }

    private func request(_ name: String) throws -> RequestVector.RequestHead {
        guard case .request(let vector)? = Self.folder?.vector(name), case .head(let head) = vector.message
        else { throw VectorFaults(faults: []) }
        return head
    }

    @Test("An attack that ends in an error is withstood only by a client that passes its harmless twin")
    func twins() async throws {
        let folder = try #require(Self.folder)
        let attacks = folder.vectors.filter { $0.head.twin != nil }
        #expect(attacks.count > 80)
        for name in [
            "names/exact: NUL in the name", "request/refused: CR LF in a value",
            "response/chunked: sixteen Fs",
        ] {
            let name = String(name.drop { $0 != "/" }.dropFirst())
            let row = try await row(name, RefusingClient())
            guard case .left(let why) = row.outcome else {
                Issue.record("\(name): \(row.outcome)")
                continue
            }
            #expect(why.hasPrefix("the attack did not reach it: "))
        }
    }

    @Test("Each attack says which harmless request has to work, or asks for one itself")
    func allTwins() throws {
        let folder = try #require(Self.folder)
        for case .redirect(let vector) in folder.vectors where vector.head.right == .attack {
            #expect((vector.head.twin == nil) == (vector.sent.count > 1), "\(vector.head.name)")
        }
        for vector in folder.vectors where vector.head.right == .attack && vector.head.topic != .redirect {
            #expect(vector.head.twin != nil, "\(vector.head.name)")
        }
    }

    @Test("A client that follows a redirect to a forbidden target reaches a server there")
    func traps() async throws {
        let client = OtherClient { $0.settings.redirects.allowsDowngrade = true }
        let row = try await row("scheme: https to http, second hop", client)
        guard case .failed(let differences) = row.outcome else { return #expect(Bool(false), "\(row)") }
        #expect(differences.first?.what == "requests")
        #expect(differences.first?.got.contains("http://b.test/") == true)
    }

    @Test("A redirect of an unsafe request need not be followed, and one of a safe request is to be")
    func unsafeRedirects() async throws {
        let client = OtherClient { $0.settings.follows = false }
        for name in ["method: POST after 307", "method: unknown method after 307"] {
            #expect(try await row(name, client).differsByChoice, "\(name)")
        }
        #expect(try await row("location: relative path", client).brokenRight == .must)
        let row = try await row("origin: Authorization from https to http", client)
        guard case .left = row.outcome else { return #expect(Bool(false), "\(row)") }
    }

    @Test("A valid type of content need not be one of a list, and methods at redirects have no case")
    func spellings() async throws {
        let typed = OtherClient { job in
            let type = (name: Array("Content-Type".utf8), value: Array("text/plain; charset=UTF-8".utf8))
            job.requests[0].fields.append(type)
        }
        #expect(try await row("methods: OPTIONS with content of any type", typed).outcome == .passed)
        let loud = OtherClient { $0.requests[0].method = $0.requests[0].method.uppercased() }
        let name = "origin: secrets of a method in lower case behind 308, from http to http"
        #expect(try await row(name, loud).outcome == .passed)
    }

    @Test("A client may ignore cookies, and may send none but those of the request")
    func cookiesThatAreSent() async throws {
        let ignoring = OtherClient { $0.kept.remove(.cookies) }
        for name in ["pair: name and value", "cookie: set by a redirect"] {
            #expect(try await row(name, ignoring).differsByChoice, "\(name)")
        }
        let inventing = OtherClient { job in
            job.kept.remove(.cookies)
            for index in job.requests.indices {
                job.requests[index].fields.append((Array("Cookie".utf8), Array("x=1".utf8)))
            }
        }
        #expect(try await row("path: case", inventing).brokenRight == .must)
    }

    @Test("Another name in SNI breaks a MUST, and none a SHOULD where the host has a full name")
    func serverNames() {
        func right(_ wanted: String?, _ got: String?) -> Right? {
            Difference.betweenServerNames(wanted, got: got).first?.right
        }
        #expect(right("a.test", "a.test") == nil && right(nil, nil) == nil)
        #expect(right("a.test", "b.test") == .must && right(nil, "127.0.0.1") == .must)
        #expect(right("a.test", nil) == .should)
        #expect(right("dotless", nil) == .choice && right("a_b.test", nil) == .choice)
    }

    @Test("Host may have the port of the scheme, and no other")
    func portOfTheScheme() {
        #expect(RedirectVector.authority(of: "A.test:443", scheme: "https") == "a.test")
        #expect(RedirectVector.authority(of: "a.test:80", scheme: "http") == "a.test")
        #expect(RedirectVector.authority(of: "[::1]:443", scheme: "https") == "[::1]")
        #expect(RedirectVector.authority(of: "a.test:80", scheme: "https") == "a.test:80")
        #expect(RedirectVector.authority(of: nil, scheme: "https") == "none")
    }

    @Test("A cache may ask without a condition, and may say by 504 that it reached nothing")
    func leniencyOfCaches() async throws {
        let asking = OtherClient { $0.kept.remove(.cache) }
        #expect(try await row("freshness: max-age=0", asking).differsByChoice)
        #expect(try await row("stale: unreachable, must-revalidate", GatewayClient()).outcome == .passed)
    }

    @Test("Any of several right results passes, and this package's client has to give the first")
    func rightAnswers() async throws {
        let name = "fields: NUL in a value"
        func response(_ value: String) -> ReportedResponse {
            ReportedResponse(status: 200, fields: [("A", value), ("Content-Length", "0")], body: [])
        }
        #expect(try await row(name, RefusingClient()).outcome == .passed)
        #expect(try await row(name, RecitingClient(response: response("b c"))).outcome == .passed)
        let kept = try await row(name, RecitingClient(response: response("b\0c")))
        #expect(kept.brokenRight == .must)
        let fold = ReportedResponse(status: 200, fields: [("A", "b c"), ("Content-Length", "0")], body: [])
        #expect(try await row("fields: fold", RecitingClient(response: fold)).outcome == .passed)
    }

    @Test("A head that arrives is judged as it is, whatever a client has made of what it was given")
    func offences() throws {
        let method = try request("refused: CR LF in the method")
        let value = try request("refused: CR LF in a value")
        func offences(_ text: String, of request: RequestVector.RequestHead) -> [String] {
            SentHead(Array(text.utf8)).offences(of: request).map(\.what)
        }
        let host = "\r\nHost: a.example\r\n"
        #expect(offences("GET / HTTP/1.1\(host)\r\n", of: method) == [])
        #expect(offences("A%0D%0AX: / HTTP/1.1\(host)\r\n", of: method) == ["request line"])
        // In upper case, as wget sends it: not the bytes that were given, and an injection all the same.
        #expect(offences("A\r\nX: Y / HTTP/1.1\(host)\r\n", of: method) == ["request line", "x"])
        #expect(offences("GET / HTTP/1.1\(host)X-B: c\r\n\r\n", of: value).isEmpty)
        #expect(offences("GET / HTTP/1.1\(host)x: Y\r\n\r\n", of: value) == ["x"])
        #expect(offences("GET / HTTP/1.1\(host)\r\nGET /x HTTP/1.1\r\n", of: value) == ["behind the head"])
        #expect(offences("GET / HTTP/1.1\(host)A: b\rc\r\n\r\n", of: value) == ["field"])
    }

    @Test("The content of a request is read as its head frames it, and nothing about it is forgiven")
    func contents() {
        func faults(_ head: String, _ rest: String) -> [String] {
            SentHead(Array("POST / HTTP/1.1\r\n\(head)\r\n\r\n\(rest)".utf8)).content
                .differences(from: Array("x".utf8)).map(\.what)
        }
        let chunked = "Transfer-Encoding: chunked"
        #expect(faults("Content-Length: 1 ", "x") == [])
        #expect(faults("Transfer-Encoding: gzip, Chunked", "1;a=b\r\nx\r\n0\r\nA: b\r\nA: c\r\n\r\n") == [])
        #expect(faults("Content-Length: 0", "x") == ["content"])
        #expect(faults("Content-Length: 2", "x") == ["content"])
        for length in ["+1", "0x1", "1, 1", ""] {
            #expect(faults("Content-Length: \(length)", "x") == ["content-length"])
        }
        #expect(faults("Content-Length: 1", "x\r\n") == ["behind the content"])
        #expect(faults(chunked, "1\r\nx\r\n0\r\n\r\n\r\n") == ["behind the content"])
        #expect(faults("Transfer-Encoding: chunked, gzip", "x") == ["the last transfer coding"])
        #expect(faults(chunked, "x") == ["chunks"])
        #expect(faults(chunked, "1 \r\nx\r\n0\r\n\r\n") == ["the size of a chunk"])
        for blank in ["a = b", "a=b\t", #"a="b" ;c"#, #"a="b\" ;c"#] {
            #expect(faults(chunked, "1;\(blank)\r\nx\r\n0\r\n\r\n") == ["a chunk extension"])
        }
        for quoted in [#"a="b c""#, #"a="b\" c\\";d="\te;""#] {
            #expect(faults(chunked, "1;\(quoted)\r\nx\r\n0\r\n\r\n") == [])
        }
        #expect(faults(chunked, "1\r\nxy\r\n0\r\n\r\n") == ["behind a chunk"])
        #expect(faults(chunked, "1\r\nx\r\n0\r\n") == ["trailers"])
        let trailers = "1\r\nx\r\n0\r\nContent-Length: 1\r\nReferer: a\r\nreferer: b\r\n\r\n"
        #expect(faults(chunked, trailers) == ["trailer content-length", "trailer referer"])
    }

    @Test("What concerns the connection is listed in every request, and a reason is no more than a reason")
    func strangers() async throws {
        func faults(_ fields: String) -> [String] {
            SentHead(Array("GET / HTTP/1.1\r\n\(fields)\r\n\r\n".utf8)).malformations().map(\.what)
        }
        #expect(faults("TE: trailers\r\nUpgrade: a") == ["te", "upgrade"])
        #expect(
            faults("Connection: keep-alive\r\nKeep-Alive: max=1\r\nTE: a\r\nConnection: close,\tTE") == []
        )
        let lists = ["Expect: 100-continue", "Expect: a=1", "Content-Encoding: a", "Content-Encoding: b"]
        let codings = "Transfer-Encoding: gzip\r\nTransfer-Encoding: "
        #expect(faults(lists.joined(separator: "\r\n") + "\r\n\(codings)Chunked") == [])
        #expect(faults("\(codings)chunked\r\nTransfer-Encoding: Chunked") == ["chunked"])
        #expect(faults("\(codings)chunked,\tchunked") == ["chunked"])
        #expect(faults("Referer: a\r\nreferer: b") == ["referer"])
        func right(_ name: String, _ reason: String) async throws -> Right? {
            var response = ReportedResponse(status: 200, fields: [], body: [])
            response.reason = reason
            return try await row(name, RecitingClient(response: response)).brokenRight
        }
        let leading = "fields: two lines with blanks before the first field"
        #expect(try await right(leading, "OK A: b") == .must)
        #expect(try await right(leading, "Fine") == .choice)
        #expect(try await right("status-line: bare CR in the reason", "O\rK") == .must)
        #expect(try await right("status-line: bare CR in the reason", "O K") == nil)
    }

    @Test("SNI and Host are judged as a MUST in every vector, and the strongest right decides")
    func strongest() throws {
        let folder = try #require(Self.folder)
        let head = try #require(folder.vectors.first { $0.head.right == .choice }).head
        let weak = Difference(what: "ending", expected: "a", got: "b")
        func row(_ differences: [Difference], isOurs: Bool = false) -> Row {
            Row(client: "x", head: head, outcome: .failed(differences), isOurs: isOurs)
        }
        #expect(row([weak]).differsByChoice && !row([weak]).isFailure)
        #expect(row([weak], isOurs: true).isFailure)
        let both = row([weak] + [weak].judged(by: .must))
        #expect(both.brokenRight == .must && both.isFailure)
    }

    @Test("A baseline lets known failures pass, and tells those that are new or gone, and names of no vector")
    func baseline() throws {
        let fixtures = try TemporaryFixtures(["known": "# of old\na: known\na: gone\na: left\na: renamed\n"])
        let names = ["a: known", "a: gone", "a: left", "a: new"]
        var baseline = try Baseline(file: "\(fixtures.path)/vectors/known", of: names)
        let head = try #require(Self.folder?.vectors.first { $0.head.right == .must }).head
        func add(_ name: String, _ outcome: Row.Outcome) {
            var row = Row(client: "x", head: head, outcome: outcome)
            row.head.name = name
            baseline.add(row)
        }
        let failure = Row.Outcome.failed([Difference(what: "a", expected: "b", got: "c")])
        add("a: known", failure)
        add("a: gone", .passed)
        add("a: left", .left("x"))
        #expect(baseline.isKept)
        #expect(baseline.lines == ["no vector has this name: a: renamed", "no longer fails: a: gone"])
        add("a: new", failure)
        #expect(!baseline.isKept)
        #expect(baseline.lines.first == "new failure: a: new")
    }
}
