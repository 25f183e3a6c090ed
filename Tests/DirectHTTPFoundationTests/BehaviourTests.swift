import DirectCore
import DirectHTTP
import DirectHTTPFoundation
import DirectIO
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A rule that every way of sending has to keep, and what URLSession is known to do instead.
struct Behaviour: Sendable, CustomTestStringConvertible {
    enum Fault: Sendable {
        case none
        /// It breaks the rule on Linux, as of Swift 6.3.1.
        case breaks
        /// It hangs or crashes, so it is not even tried.
        case isNotTried
    }

    let rule: String
    let faults: [Way: Fault]
    /// Whether time has to pass for it.
    let isTimed: Bool
    let check: @Sendable (Sender) async throws -> Void

    init(
        _ rule: String,
        plain: Fault = .none,
        urlProtocol: Fault = .none,
        isTimed: Bool = false,
        _ check: @escaping @Sendable (Sender) async throws -> Void
    ) {
        self.rule = rule
        faults = [.plainURLSession: plain, .urlProtocol: urlProtocol]
        self.isTimed = isTimed
        self.check = check
    }

    var testDescription: String { rule }

    static let all = exchanges + redirects + cookies + refusals + loads
}

@Suite("Behaviours of URLSession and its replacements")
struct BehaviourTests {
    @Test(
        "Each way of sending keeps the rules that it is known to keep",
        arguments: Way.allCases,
        Behaviour.all
    )
    func everyWayKeepsTheRules(_ way: Way, _ behaviour: Behaviour) async throws {
        let sender = Sender(way, on: behaviour.isTimed ? .shared : .still)
        switch behaviour.faults[way] ?? .none {
        case .isNotTried: break
        case .breaks:
            await withKnownIssue(isIntermittent: true) { try await behaviour.check(sender) }
        case .none: try await behaviour.check(sender)
        }
    }
}

extension Behaviour {
    private static let exchanges = [
        Behaviour("a method without a body arrives as it is") { sender in
            let server = try FixtureServer.start { .text("\($0.method) \(try $0.discardBody())") }
            for method in ["GET", "DELETE", "OPTIONS", "POST", "PUT", "PATCH", "REPORT"] {
                #expect(try await sender.text(server.request(method)) == "\(method) 0")
            }
        },
        Behaviour("HEAD has a length and no body") { sender in
            let server = try FixtureServer.start { _ in .text("hello") }
            let (data, head) = try await sender.data(for: server.request("HEAD"))
            #expect(data.isEmpty)
            #expect(head.expectedContentLength == 5)
        },
        Behaviour("a body in memory arrives, whatever the method") { sender in
            let server = try FixtureServer.start { .text("\($0.method) \(try $0.text)") }
            for method in ["POST", "PUT", "PATCH", "DELETE", "REPORT"] {
                var request = try server.request(method)
                request.httpBody = Data("body".utf8)
                #expect(try await sender.text(request) == "\(method) body")
            }
        },
        Behaviour("the body of a POST is a form unless the request says otherwise, and no other method's") {
            sender in
            let server = try FixtureServer.start { .text($0.headers["content-type"] ?? "none") }
            for (method, said, expected) in [
                ("POST", nil, "application/x-www-form-urlencoded"), ("POST", "text/x-odd", "text/x-odd"),
                ("PUT", nil, "none"),
            ] {
                var request = try server.request(method)
                request.httpBody = Data("a=b".utf8)
                request.setValue(said, forHTTPHeaderField: "Content-Type")
                #expect(try await sender.text(request) == expected)
            }
        },
        Behaviour("a body from a stream arrives") { sender in
            let server = try FixtureServer.start { try .echo($0) }
            var request = try server.request("POST")
            request.httpBodyStream = InputStream(data: Data("streamed".utf8))
            #expect(try await sender.text(request) == "streamed")
        },
        Behaviour("the body of an upload arrives") { sender in
            let server = try FixtureServer.start { try .echo($0) }
            let (data, _) = try await sender.upload(for: server.request("POST"), from: Data("uploaded".utf8))
            #expect(data == Data("uploaded".utf8))
        },
        Behaviour("the session's additional fields arrive") { sender in
            let server = try FixtureServer.start { .text($0.headers["x-session"] ?? "none") }
            #expect(try await sender.text(server.request("GET")) == "additional")
        },
        Behaviour("204 and 304 have no body") { sender in
            for status in [204, 304] {
                let server = try FixtureServer.start { _ in .status(status) }
                let (data, head) = try await sender.data(for: server.request("GET"))
                #expect(data.isEmpty && head.statusCode == status)
            }
        },
        Behaviour("fields of one name come joined in their order", plain: .breaks) { sender in
            let server = try FixtureServer.start { _ in
                .text("x", ["X-Many": "1", "X-MANY": "2", "x-many": "3"])
            }
            let (_, head) = try await sender.data(for: server.request("GET"))
            let joined = head.value(forHTTPHeaderField: "x-many")?.filter { $0 != " " }
            #expect(joined == "1,2,3")
        },
        Behaviour("a response that breaks off is a lost connection", plain: .breaks) { sender in
            let server = try FixtureServer.start { _ in
                .bytes([1, 2, 3], status: 200, ["Content-Length": "10"]).then(.closeUnannounced)
            }
            let error = await urlError { _ = try await sender.data(for: server.request("GET")) }
            #expect(error?.code == .networkConnectionLost)
        },
    ]

    private static let redirects = [
        Behaviour("a POST that is answered 301, 302 or 303 goes on as GET without its body") { sender in
            for status in [301, 302, 303] {
                let arrived = try await sender.followed(status, "POST")
                #expect(arrived == "GET 0")
            }
        },
        Behaviour("a PUT that is answered 301 or 302 stays what it is", plain: .breaks) { sender in
            for status in [301, 302] {
                let arrived = try await sender.followed(status, "PUT")
                #expect(arrived == "PUT 4")
            }
        },
        Behaviour("method and body survive 307 and 308", plain: .breaks) { sender in
            for status in [307, 308] {
                let arrived = try await sender.followed(status, "POST")
                #expect(arrived == "POST 4")
            }
        },
        Behaviour("a relative Location is joined as RFC 3986 says", plain: .breaks) { sender in
            for (location, target) in [
                ("next", "/a/next"), ("../next?q", "/next?q"), ("/next", "/next"), ("?q", "/a/b?q"),
                ("./", "/a/"),
            ] {
                let server = try FixtureServer.start { request in
                    request.target == "/a/b" ? .redirect(to: location) : .text(request.target)
                }
                let (data, head) = try await sender.data(for: server.request("GET", "/a/b"))
                #expect(String(decoding: data, as: UTF8.self) == target)
                #expect(try head.url == server.url(target))
            }
        },
        Behaviour("Authorization stays with its origin", plain: .breaks) { sender in
            let other = try FixtureServer.start { .text($0.headers["authorization"] ?? "none") }
            let server = try FixtureServer.start { _ in .redirect(to: "http://\(other.authority)/") }
            var request = try server.request("GET")
            request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
            #expect(try await sender.text(request) == "none")
            #expect(server.requests.first?.headers["authorization"] == "Bearer secret")
        },
        Behaviour("a field that nobody knows stays with its origin", plain: .breaks) { sender in
            let other = try FixtureServer.start { .text($0.headers["x-api-key"] ?? "none") }
            let server = try FixtureServer.start { _ in .redirect(to: "http://\(other.authority)/") }
            var request = try server.request("GET")
            request.setValue("secret", forHTTPHeaderField: "X-API-Key")
            #expect(try await sender.text(request) == "none")
        },
        Behaviour("3xx without Location is a response like others") { sender in
            let server = try FixtureServer.start { _ in .text("choose", status: 300) }
            let (data, head) = try await sender.data(for: server.request("GET"))
            #expect(head.statusCode == 300)
            #expect(String(decoding: data, as: UTF8.self) == "choose")
        },
        Behaviour("redirects in a loop are an error") { sender in
            let server = try FixtureServer.start { _ in .redirect(to: "/again") }
            let error = await urlError { _ = try await sender.data(for: server.request("GET")) }
            #expect(error?.code == .httpTooManyRedirects)
        },
    ]

    private static let cookies = [
        Behaviour("a cookie comes back to its host, and is in the storage under its name") { sender in
            let server = try FixtureServer.start { request in
                .text(request.headers["cookie"] ?? "none", ["Set-Cookie": "a=1; Path=/"])
            }
            #expect(try await sender.text(server.request("GET")) == "none")
            #expect(try await sender.text(server.request("GET")) == "a=1")
            #expect(sender.cookies.cookies?.map(\.domain) == ["127.0.0.1"])
        },
        Behaviour(
            "a cookie with a date in it is one cookie, and one with attributes gone by none",
            plain: .breaks
        ) { sender in
            let server = try FixtureServer.start { request in
                let count = request.headers["cookie"] == nil ? "" : "; Max-Age=0"
                return .text(
                    request.headers["cookie"] ?? "none",
                    ["Set-Cookie": "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT\(count)"]
                )
            }
            #expect(try await sender.text(server.request("GET")) == "none")
            #expect(try await sender.text(server.request("GET")) == "a=1")
            #expect(try await sender.text(server.request("GET")) == "none")
        },
        Behaviour("a cookie does not go beyond its path", plain: .breaks) { sender in
            let server = try FixtureServer.start { request in
                .text(request.headers["cookie"] ?? "none", ["Set-Cookie": "a=1; Path=/in"])
            }
            _ = try await sender.text(server.request("GET", "/in"))
            #expect(try await sender.text(server.request("GET", "/in/side")) == "a=1")
            #expect(try await sender.text(server.request("GET", "/inside")) == "none")
        },
        Behaviour("nobody sets cookies for a part of an address or a public suffix", plain: .breaks) {
            sender in
            let server = try FixtureServer.start { _ in .text("x", ["Set-Cookie": "a=1; Domain=0.0.1"]) }
            _ = try await sender.text(server.request("GET"))
            #expect(sender.cookies.cookies?.isEmpty == true)
        },
        Behaviour("a cookie set by a redirect goes along on the next hop") { sender in
            let server = try FixtureServer.start { request in
                request.path == "/"
                    ? .redirect(to: "/next").adding("Set-Cookie", value: "a=1; Path=/")
                    : .text(request.headers["cookie"] ?? "none")
            }
            #expect(try await sender.text(server.request("GET")) == "a=1")
        },
        Behaviour("a cookie that a hop replaces or removes goes no further as it was") { sender in
            let server = try FixtureServer.start { request in
                switch request.path {
                case "/":
                    .redirect(to: "/two").adding("Set-Cookie", value: "a=1; Path=/").adding(
                        "Set-Cookie",
                        value: "b=1; Path=/"
                    )
                case "/two":
                    .redirect(to: "/three").adding("Set-Cookie", value: "a=2; Path=/")
                        .adding("Set-Cookie", value: "b=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT")
                default: .text(request.headers["cookie"] ?? "none")
                }
            }
            #expect(try await sender.text(server.request("GET")) == "a=2")
        },
        // The session has thrown the caller's own away before a URLProtocol sees the request.
        Behaviour(
            "a cookie of the caller's own goes along with those of the storage",
            plain: .breaks,
            urlProtocol: .breaks
        ) { sender in
            let server = try FixtureServer.start { request in
                .text(request.headers["cookie"] ?? "none", ["Set-Cookie": "a=1; Path=/"])
            }
            var request = try server.request("GET")
            request.setValue("own=2", forHTTPHeaderField: "Cookie")
            _ = try await sender.text(request)
            #expect(try await sender.text(request) == "own=2; a=1")
        },
    ]

    private static let refusals = [
        Behaviour("401 is delivered when there is no credential", plain: .isNotTried) { sender in
            let server = try FixtureServer.start { _ in
                .text("who?", status: 401, ["WWW-Authenticate": "Basic realm=\"here\""])
            }
            let (data, head) = try await sender.data(for: server.request("GET"))
            #expect(head.statusCode == 401)
            #expect(String(decoding: data, as: UTF8.self) == "who?")
        },
        Behaviour("an Authorization of the caller's arrives") { sender in
            let server = try FixtureServer.start { .text($0.headers["authorization"] ?? "none") }
            var request = try server.request("GET")
            request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
            #expect(try await sender.text(request) == "Bearer token")
        },
        Behaviour("user and password of the URL are for its origin") { sender in
            let server = try FixtureServer.start { request in
                let authorization = request.headers["authorization"]
                return authorization == nil
                    ? .text("who?", status: 401, ["WWW-Authenticate": "Basic realm=\"here\""])
                    : .text(authorization ?? "")
            }
            var request = try server.request("GET")
            request.url = URL(string: "http://user:pass@\(server.authority)/")
            #expect(try await sender.text(request) == "Basic \(Data("user:pass".utf8).base64EncodedString())")
        },
        Behaviour("cancelling ends the request at once") { sender in
            let gate = Gate()
            let server = try FixtureServer.start { request in
                try request.wait(for: gate)
                return .text("late")
            }
            let request = try server.request("GET")
            let work = Task { await urlError { _ = try await sender.data(for: request) } }
            _ = try await server.waitUntil { !$0.isEmpty }
            work.cancel()
            #expect(await work.value?.code == .cancelled)
            gate.open()
        },
        Behaviour("a timeout of the request's is honoured", isTimed: true) { sender in
            let gate = Gate()
            let server = try FixtureServer.start { request in
                try request.wait(for: gate)
                return .text("late")
            }
            var request = try server.request("GET")
            // URLSession on Linux knows whole seconds only.
            request.timeoutInterval = sender.way == .plainURLSession ? 1 : 0.1
            let error = await urlError { _ = try await sender.data(for: request) }
            #expect(error?.code == .timedOut)
            gate.open()
        },
        Behaviour("a refused connection is an error with the URL") { sender in
            let refusing = try FixtureServer.refusing()
            let error = await urlError { _ = try await sender.data(for: refusing.request("GET")) }
            #expect(error?.code == .cannotConnectToHost)
            #expect(try error?.failingURL == refusing.url())
        },
    ]

    private static let loads = [
        Behaviour("2 MiB come down whole, with a length and in chunks") { sender in
            let server = try FixtureServer.start { request in
                request.path == "/length"
                    ? .pattern(count: large) : .pattern(count: large, framing: .chunked)
            }
            for path in ["/length", "/chunks"] {
                let (data, _) = try await sender.data(for: server.request("GET", path))
                #expect(data.count == large)
                #expect(data == largePattern)
            }
        },
        Behaviour("2 MiB go up whole") { sender in
            let server = try FixtureServer.start { .text("\(try $0.discardBody())") }
            var request = try server.request("POST")
            let body = Data(repeating: 1, count: large)
            request.httpBody = body
            #expect(try await sender.text(request) == "\(large)")
            let (data, _) = try await sender.upload(for: server.request("POST"), from: body)
            #expect(String(decoding: data, as: UTF8.self) == "\(large)")
        },
        Behaviour("200 requests at a time get each its own answer") { sender in
            let server = try FixtureServer.start { .text($0.target) }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    let request = try server.request("GET", "/\(number)")
                    group.addTask { try await sender.text(request) == "/\(number)" }
                }
                for try await isRight in group { #expect(isRight) }
            }
        },
    ]
}

private let large = 2 << 20
private let largePattern = Data(FixturePattern.bytes(at: 0, count: large))

extension Sender {
    /// The request that arrives, as method and length, after a redirect with this status.
    fileprivate func followed(_ status: Int, _ method: String) async throws -> String {
        let server = try FixtureServer.start { request in
            let count = try request.discardBody()
            return request.path == "/"
                ? .redirect(to: "/next", status: status) : .text("\(request.method) \(count)")
        }
        var request = try server.request(method)
        request.httpBody = Data("body".utf8)
        return try await text(request)
    }
}
