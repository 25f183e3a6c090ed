// A session for the half of DirectHTTPFoundation that Apple's systems use, on Linux' Foundation. It does with a URLProtocol
// what Apple's documents say that the URL loading system does, and nothing else:
//
// - "URLProtocol", "Subclassing notes": creates an object for a request that `canInit(with:)` accepts, calls `startLoading`,
//   and `stopLoading` at the end or to cancel;
// - CustomHTTPProtocol (sample code), "About the URL Loading System": the thread that calls `startLoading` runs its run loop, and
//   wants all calls of the client there;
// - "urlProtocol(_:wasRedirectedTo:redirectResponse:)": loads the new request with a new object.
//
// Not seen here: the mark of a request that has left its origin, because corelibs' URLRequest loses the properties that
// URLProtocol sets (Swift 6.3.1).

import DirectHTTP
import DirectHTTPFoundation
import Foundation
import FoundationNetworking
import TLSFixtures

/// What a URLProtocol reports, until its end.
final class Report: NSObject, URLProtocolClient, @unchecked Sendable {
    var responses: [HTTPURLResponse] = []
    var pieces: [Data] = []
    var next: URLRequest?
    var ends: [URLError.Code?] = []
    private let thread = Thread.current

    var body: String { String(decoding: pieces.joined(), as: UTF8.self) }

    private func expectThread() {
        expect(Thread.current === thread, "the client is called on the thread of startLoading")
    }

    func urlProtocol(_: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
        expectThread()
        expect(ends.isEmpty && responses.isEmpty, "a redirect comes before anything else")
        next = request
    }
    func urlProtocol(
        _: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy: URLCache.StoragePolicy
    ) {
        expectThread()
        if let response = response as? HTTPURLResponse { responses.append(response) }
    }
    func urlProtocol(_: URLProtocol, didLoad data: Data) {
        expectThread()
        expect(ends.isEmpty && responses.count == 1, "data comes after the response")
        pieces.append(data)
    }
    func urlProtocolDidFinishLoading(_: URLProtocol) {
        expectThread()
        ends.append(nil)
    }
    func urlProtocol(_: URLProtocol, didFailWithError error: any Error) {
        expectThread()
        ends.append((error as? URLError)?.code ?? .unknown)
    }
    func urlProtocol(_: URLProtocol, cachedResponseIsValid: CachedURLResponse) {}
    func urlProtocol(_: URLProtocol, didReceive: URLAuthenticationChallenge) {}
    func urlProtocol(_: URLProtocol, didCancel: URLAuthenticationChallenge) {}
}

nonisolated(unsafe) var failures = 0

func expect(_ isTrue: Bool, _ rule: String) {
    guard !isTrue else { return }
    failures += 1
    FileHandle.standardError.write(Data("FAILED: \(rule)\n".utf8))
}

/// Runs the thread's run loop until the condition holds.
func runLoop(until isDone: () -> Bool) {
    let timer = Timer(timeInterval: 0.01, repeats: true) { _ in }
    RunLoop.current.add(timer, forMode: .default)
    // A block or a timer does not end a run, only its time does.
    while !isDone() { _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02)) }
    timer.invalidate()
}

/// Loads a request and those to which it is redirected. Returns the reports of all objects.
func load(_ request: URLRequest, with type: DirectURLProtocol.Type) -> [Report] {
    let report = Report()
    expect(type.canInit(with: request), "the class accepts \(request)")
    let loading = type.init(request: type.canonicalRequest(for: request), cachedResponse: nil, client: report)
    loading.startLoading()
    runLoop { !report.ends.isEmpty }
    loading.stopLoading()
    guard let next = report.next, report.ends == [.cancelled] else { return [report] }
    return [report] + load(next, with: type)
}

let other = try FixtureServer.start {
    .text("\($0.method) \($0.headers["authorization"] ?? "-")")
}
let server = try FixtureServer.start { request in
    switch request.path {
    case "/many": .chunked((0..<50).map { [UInt8](repeating: UInt8(ascii: "a") + $0 % 26, count: 5000) })
    case "/302": .redirect(to: "/fields")
    case "/303": .redirect(to: "/fields", status: 303)
    case "/307": .redirect(to: "/echo", status: 307)
    case "/away": .redirect(to: "http://\(other.authority)/", status: 307)
    case "/fields":
        .text(
            "\(request.method) \(request.headers["authorization"] ?? "-") \(request.headers["cookie"] ?? "-")"
        )
    case "/401": .text("who?", status: 401, ["WWW-Authenticate": "Basic realm=\"here\""])
    default: try .echo(request)
    }
}

func request(_ method: String, _ path: String, body: String? = nil) -> URLRequest {
    var request = URLRequest(url: URL(string: "http://\(server.authority)\(path)")!)
    request.httpMethod = method
    request.setValue("Basic eDp5", forHTTPHeaderField: "Authorization")
    request.httpBody = body.map { Data($0.utf8) }
    return request
}

let jar = CookieJar()
jar.add(try Cookie("a", "b", for: HTTPHost(server.address)))
let client = HTTPClient {
    $0.cookies = jar
}
let type = client.urlProtocolClass()

let many = load(request("GET", "/many"), with: type)
expect(
    many.count == 1 && many[0].responses.map(\.statusCode) == [200] && many[0].ends == [nil],
    "a response ends once"
)
expect(many[0].pieces.count > 1 && many[0].body.utf8.count == 250_000, "a body comes in pieces, whole")

let found = load(request("GET", "/302"), with: type)
expect(
    found.count == 2 && found[1].body == "GET Basic eDp5 a=b",
    "a redirect begins anew, with the fields: \(found[1].body)"
)
let seeOther = load(request("POST", "/303", body: "hello"), with: type)
expect(seeOther.last?.body == "GET Basic eDp5 a=b", "303 makes a POST a GET")
expect(load(request("POST", "/307", body: "hello"), with: type).last?.body == "hello", "307 repeats the body")
var streamed = request("POST", "/307")
streamed.httpBodyStream = InputStream(data: Data("stream".utf8))
expect(load(streamed, with: type).last?.ends == [.requestBodyStreamExhausted], "a stream cannot be repeated")

let away = load(request("POST", "/away", body: "hello"), with: type)
expect(away.last?.body == "POST -", "another origin does not get the Authorization: \(away.last?.body ?? "")")

var plain = request("GET", "/302")
plain.httpShouldHandleCookies = false
plain.timeoutInterval = 30
let hops = load(plain, with: type)
expect(
    hops.last?.body == "GET Basic eDp5 -",
    "a redirect keeps httpShouldHandleCookies: \(hops.last?.body ?? "")"
)
expect(hops[0].next?.timeoutInterval == 30, "a redirect keeps the time limit")

let refused = load(request("GET", "/401"), with: type)
expect(
    refused[0].responses.first?.value(forHTTPHeaderField: "WWW-Authenticate") != nil,
    "a challenge is delivered"
)
expect(refused[0].body == "who?", "a 401 has its body")

let nobody = URLRequest(url: URL(string: "http://127.77.77.77:\(server.port)/")!)
expect(load(nobody, with: type)[0].ends == [.cannotConnectToHost], "an error is reported once")

let stopped = Report()
let loading = type.init(request: request("GET", "/many"), cachedResponse: nil, client: stopped)
loading.startLoading()
loading.stopLoading()
_ = load(request("GET", "/many"), with: type)
expect(stopped.responses.isEmpty && stopped.ends.isEmpty, "nothing is reported after stopLoading")

if failures > 0 { exit(1) }
