// swift-format-ignore-file
// scripts/make/cookbook makes this file of docs/Cookbook.md and README.md.

import DirectHTTP
import DirectHTTPExtras
import DirectHTTPJSON
import DirectHTTPRecords
import DirectResolvers
import Foundation
import Synchronization
import TLSFixtures

let recipes: [Recipe] = [
Recipe("The program of README.md", prints: #"""
200 hello, www.example.com
certificate is not for www.example.com but for 127.0.0.1

"""#) {
// Two servers on this machine. The certificate of the second is for its address, not for the name.
let authority = TestAuthority()
let right = try FixtureServer.start(.tls(authority.certificate(for: "www.example.com"))) { .text("hello, \($0.host ?? "")") }
let wrong = try FixtureServer.start(.tls(authority.certificate(for: "127.0.0.1"))) { _ in .text("never sent") }

let client = HTTPClient { $0.tls.roots = .only([.pem(authority.rootPEM)]) }
var request = HTTPClient.Request(.get, "https://www.example.com/feed")
for server in [right, wrong] {
    request.addresses = [try Endpoint(server.authority)]          // go there, as www.example.com
    do {
        let response = try await client.fetch(request)
        print(response.status, response.text ?? "")
    } catch let error as HTTPError {
        print(error.reason)
    }
}
},
Recipe("Get a page", prints: #"""
200 hello

"""#) {
let page = try await client.get("https://www.example.com/")
print(page.status, page.text ?? "")
},
Recipe("Get JSON", prints: #"""
7 tea

"""#) {
struct Item: Decodable { let id: Int, name: String }

let response = try await client.get("https://api.example.com/items/7").requiringSuccess()
let item = try response.decode(Item.self)
print(item.id, item.name)
},
Recipe("Send JSON", prints: #"""
201 {"name":"cake"}

"""#) {
let answer = try await client.post("https://api.example.com/items", .json(["name": "cake"]))
print(answer.status, answer.text ?? "")
},
Recipe("Send a form", prints: #"""
name=Ann&town=Bonn+%26+Cologne

"""#) {
let answer = try await client.post("https://www.example.com/form", .form([("name", "Ann"), ("town", "Bonn & Cologne")]))
print(answer.text ?? "")
},
Recipe("Put values into a URL", prints: #"""
/items/a%2Fb
/search?q=fish%20%26%20chips

"""#) {
let items = try HTTPURL("https://api.example.com/items")
let item = try items.appending(path: "a/b")                     // stays one segment of the path
let search = try HTTPURL("https://www.example.com/search").appending(query: ["q": "fish & chips"])
print(try await client.get(item).text ?? "")
print(try await client.get(search).text ?? "")
},
Recipe("Use one base URL and one key for an API", prints: #"""
{"id":7,"name":"tea"}

"""#) {
let api = try HTTPClient {
    local(&$0)
    $0.baseURL = try HTTPURL("https://api.example.com/items/")
    $0.headers["X-Api-Key"] = "secret"
}
print(try await api.get("7").text ?? "")
},
Recipe("Treat an error status as an error", prints: #"""
404 no such page

"""#) {
do {
    _ = try await client.get("https://www.example.com/missing").requiringSuccess()
} catch let error as HTTPError {
    print(error.response?.status.code ?? 0, error.response?.text ?? "")
}
},
Recipe("Find out why a request failed", prints: #"""
www.example.com ["other.example.com"] tls

"""#) {
var request = HTTPClient.Request(.get, "https://www.example.com/")
request.addresses = [stranger]
do {
    _ = try await client.fetch(request)
} catch let error as HTTPError {
    if case .tls(.nameMismatch(let expected, let served)) = error.reason { print(expected, served, error.phase) }
}
},
Recipe("Limit the time", prints: #"""
timed out after 200 ms

"""#) {
var request = HTTPClient.Request(.get, "https://www.example.com/stall")
request.timeouts.total = .milliseconds(200)
do {
    _ = try await client.fetch(request)
} catch let error as HTTPError {
    print(error.reason)
}
},
Recipe("Cancel a request", prints: #"""
cancelled

"""#) {
let task = Task { try await client.get("https://www.example.com/stall") }
task.cancel()
do {
    _ = try await task.value
} catch is CancellationError {
    print("cancelled")
}
},
Recipe("Send a request to an address", prints: #"""
www.example.com at edge
true 1

"""#) {
var request = HTTPClient.Request(.get, "https://www.example.com/where")
request.addresses = [dead, edge]                            // or ["203.0.113.7", "[2001:db8::7]:8443"]
let response = try await client.fetch(request)
print(response.text ?? "")
print(response.transaction?.endpoint == edge, response.transaction?.failedAttempts.count ?? 0)
},
Recipe("Use curl's --resolve list, or a hosts file", prints: #"""
www.example.com at edge 1

"""#) {
let map = try StaticMap(curl: ["www.example.com:443:\(edge)", "*.test:*:127.0.0.1"])
let hosts = StaticMap(hosts: "203.0.113.9 www.example.com  # staging")
let staging = HTTPClient {
    trust(&$0)
    $0.addresses = map
}
print(try await staging.get("https://www.example.com/where").text ?? "", hosts.count)
},
Recipe("Change an address while the program runs", prints: #"""
www.example.com at origin
www.example.com at edge

"""#) {
let live = LiveMap(try StaticMap(curl: ["www.example.com:443:\(origin)"]))
let client = HTTPClient {
    trust(&$0)
    $0.resolver = live
}
print(try await client.get("https://www.example.com/where").text ?? "")
try live.update { try $0.set([edge], for: HostPattern("www.example.com"), port: 443) }
print(try await client.get("https://www.example.com/where").text ?? "")
},
Recipe("Use HTTPDNS, and the system's resolver if it fails", prints: #"""
200 Alibaba HTTPDNS

"""#) {
let httpdns = AlibabaHTTPDNS(account: "100000", .insecureHTTP([kitchen.httpdns.endpoint]))
let client = HTTPClient {
    trust(&$0)
    $0.resolver = CachingResolver(ChainResolver(httpdns, SystemResolver()))
}
let page = try await client.get("https://www.example.com:\(origin.port ?? 443)/where")
print(page.status, page.transaction?.source ?? .system)
},
Recipe("Use the resolver of your own SDK", prints: #"""
200

"""#) {
let sdk = ClosureResolver("HTTPDNS SDK", timeToLive: .seconds(60), blocking: { host in
    host.text == "www.example.com" ? ["127.0.0.1"] : []     // the SDK's synchronous call
})
let client = HTTPClient {
    trust(&$0)
    $0.resolver = CachingResolver(sdk) { $0.whileAsking = .use(SystemResolver()) }
}
let page = try await client.get("https://www.example.com:\(origin.port ?? 443)/")
print(page.status)
},
Recipe("Ask DNS over HTTPS", prints: #"""
DNS over JSON

"""#) {
var settings = ServiceSettings()
settings.tls.roots = .only([.der(kitchen.authority.rootDER)])
settings.families = .v4
let dns = DNSOverJSON(.https([kitchen.dns.endpoint], name: "dns.example.com"), settings)
let client = HTTPClient {
    trust(&$0)
    $0.resolver = CachingResolver(dns)
}
let page = try await client.get("https://www.example.com:\(origin.port ?? 443)/")
print(page.transaction?.source ?? .system)
},
Recipe("Look names up before they are needed", prints: #"""
0 ["img.example.com", "www.example.com"]

"""#) {
let cache = CachingResolver(ClosureResolver("registry") { _ in ["127.0.0.1"] })
let failures = await cache.warmUp([try DomainName("www.example.com"), try DomainName("img.example.com")])
print(failures.count, cache.contents.map(\.host.text).sorted())
},
Recipe("See which address answered", prints: #"""
www.example.com true staticMap TLS 1.3

"""#) {
let response = try await client.get("https://www.example.com/")
if let transaction = response.transaction {
    print(transaction.name, transaction.endpoint == origin, transaction.source, transaction.tls?.version ?? .tls12)
}
},
Recipe("Compare the servers of one name", prints: #"""
www.example.com at origin CN=www.example.com
www.example.com at edge CN=www.example.com
certificate is not for www.example.com but for other.example.com
connect: Connection refused

"""#) {
for address in [origin, edge, stranger, dead] {
    var request = HTTPClient.Request(.get, "https://www.example.com/where")
    request.addresses = [address]
    do {
        let response = try await client.fetch(request)
        print(response.text ?? "", response.transaction?.tls?.certificate?.subject ?? "")
    } catch let error as HTTPError {
        print(error.reason)
    }
}
},
Recipe("Fetch URLs that users typed", prints: #"""
127.0.0.1 may not be dialled: loopback (RFC 1122)
::ffff:10.0.0.1 may not be dialled: it leads to 10.0.0.1: private (RFC 1918)
169.254.169.254 may not be dialled: link-local (RFC 3927)

"""#) {
let guarded = HTTPClient { $0.vetting = .publicInternetOnly }
for url in ["http://127.0.0.1/", "http://[::ffff:10.0.0.1]/", "http://169.254.169.254/latest/"] {
    do {
        _ = try await guarded.get(url)
    } catch let error as HTTPError {
        print(error.reason)
    }
}
},
Recipe("Upload a file with progress", prints: #"""
3000000 bytes, as they are 3000000

"""#) {
let path = "/tmp/direct-http-cookbook-upload"
_ = try await client.download("https://www.example.com/large", to: path)
var request = HTTPClient.Request(.post, "https://www.example.com/upload", body: .file(path))
let last = Mutex<UInt64>(0)
request.onUpload = { progress in last.withLock { $0 = progress.bytes } }
print(try await client.fetch(request).text ?? "", last.withLock { $0 })
unlink(path)
},
Recipe("Upload a form with a file", prints: #"""
200

"""#) {
let parts: [FormPart] = [.field("title", "Holidays"), .file("notes", path: "/etc/hostname", contentType: "text/plain")]
let answer = try await client.post("https://www.example.com/upload", .multipart(parts))
print(answer.status)
},
Recipe("Upload what is made while it is sent", prints: #"""
8893 bytes, as they are

"""#) {
let lines = AsyncStream<[UInt8]> { source in
    for number in 1...1000 { source.yield(Array("line \(number)\n".utf8)) }
    source.finish()
}
print(try await client.post("https://www.example.com/upload", .stream(lines)).text ?? "")
},
Recipe("Compress an upload", prints: #"""
true

"""#) {
let report = String(repeating: "line of a report\n", count: 10_000)
let body = try RequestBody.text(report).gzipped()
print(try await client.post("https://www.example.com/upload", body).text?.hasSuffix("gzip") ?? false)
},
Recipe("Save a response to a file", prints: #"""
3000000

"""#) {
let path = "/tmp/direct-http-cookbook-large"
let response = try await client.send(HTTPClient.Request(.get, "https://www.example.com/large")).requiringSuccess()
let count = try await response.body.write(to: path, upTo: 1 << 30) { progress in
    precondition(progress.total == 3_000_000)
}
print(count)
unlink(path)
},
Recipe("Resume a download that broke off", prints: #"""
300000 ["bytes=100000-"]

"""#) {
let path = "/tmp/direct-http-cookbook-film"
let result = try await client.download("https://www.example.com/film", to: path)
print(result.size, kitchen.origin.requests.compactMap { $0.headers["range"] })
unlink(path)
},
Recipe("Read a large response piece by piece", prints: #"""
3000000

"""#) {
let response = try await client.send(HTTPClient.Request(.get, "https://www.example.com/large"))
var count = 0
for try await piece in response.body { count += piece.count }
print(count)
},
Recipe("Read lines as they arrive", prints: #"""
one
two
three

"""#) {
let response = try await client.send(HTTPClient.Request(.get, "https://www.example.com/log")).requiringSuccess()
for try await line in response.body.lines { print(line) }
},
Recipe("Follow server-sent events", prints: #"""
 one
2 two

"""#) {
for try await event in client.events(from: "https://www.example.com/events") {
    print(event.id, event.data)
}
},
Recipe("Read text in another charset", prints: #"""
café 4

"""#) {
let page = try await client.get("https://www.example.com/latin")
print(page.text ?? "", page.body.count)
},
Recipe("Read a list of many pages", prints: #"""
[1,2]
[3]

"""#) {
let first = HTTPClient.Request(.get, "https://api.example.com/items?page=1")
for try await page in client.pages(of: first, upTo: 50) { print(page.text ?? "") }
},
Recipe("Follow redirects, or not", prints: #"""
[GET https://www.example.com/old: 302, redirect]
302

"""#) {
print(try await client.get("https://www.example.com/old").history)

var request = HTTPClient.Request(.get, "https://www.example.com/away")
var policy = RedirectPolicy()
policy.decide = { $0.crossesOrigins ? nil : $0.next }
request.redirects = policy
print(try await client.fetch(request).status)
},
Recipe("Try again after 503 or a failure", prints: #"""
ready [503]

"""#) {
let patient = HTTPClient {
    local(&$0)
    $0.retries = RetryPolicy()
}
let response = try await patient.get("https://www.example.com/flaky")
print(response.text ?? "", response.history.map { $0.status ?? .ok })
},
Recipe("Keep cookies", prints: #"""
visitor 42

"""#) {
let visitor = HTTPClient {
    local(&$0)
    $0.cookies = CookieJar()
}
_ = try await visitor.get("https://www.example.com/login")
print(try await visitor.get("https://www.example.com/profile").text ?? "")
},
Recipe("Cache responses", prints: #"""
edition 1 from the server
edition 1 from the cache

"""#) {
let reader = HTTPClient {
    local(&$0)
    $0.cache = .memory()                                    // or .directory("/var/cache/reader")
}
for _ in 1...2 {
    let news = try await reader.get("https://www.example.com/news")
    print(news.text ?? "", news.transaction == nil ? "from the cache" : "from the server")
}
},
Recipe("Log in with user and password", prints: #"""
come in

"""#) {
let shop = try HTTPClient {
    local(&$0)
    $0.authenticators[try HTTPURL("https://www.example.com").origin] = .basic(user: "ann", password: "secret")
}
print(try await shop.get("https://www.example.com/private").text ?? "")
},
Recipe("Renew a token when the server refuses it", prints: #"""
come in

"""#) {
let shop = try HTTPClient {
    local(&$0)
    $0.authenticators[try HTTPURL("https://www.example.com").origin] = .bearer(refreshing: { "new" })
}
print(try await shop.get("https://www.example.com/private").text ?? "")
},
Recipe("Use a proxy", prints: #"""
www.example.com at origin true

"""#) {
let office = try HTTPClient {
    trust(&$0)
    $0.proxy = ProxySettings(try Proxy("http://joe:secret@\(kitchen.proxy.authority)"))
}
let response = try await office.get("https://www.example.com/where")
print(response.text ?? "", response.transaction?.proxy != nil)
},
Recipe("Pin a key", prints: #"""
another key

"""#) {
let pinned = try HTTPClient {
    local(&$0)
    $0.tls.pins = try KeyPins(["www.example.com": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]])
}
do {
    _ = try await pinned.get("https://www.example.com/")
} catch let error as HTTPError {
    if case .tls(.keyNotPinned) = error.reason { print("another key") }
}
},
Recipe("Show a client certificate", prints: #"""
CN=reader

"""#) {
let known = HTTPClient {
    local(&$0)
    $0.tls.clientIdentity = ClientIdentity(
        certificateChain: Array(kitchen.client.chainPEM.utf8), privateKey: Array(kitchen.client.keyPEM.utf8)
    )
}
print(try await known.get("https://www.example.com/whoami").text ?? "")
},
Recipe("Trust an authority of your own", prints: #"""
200

"""#) {
let internalOnly = HTTPClient { $0.tls.roots = .only([.pem(kitchen.authority.rootPEM)]) }      // or .systemAnd([.pemFile(…)])
var request = HTTPClient.Request(.get, "https://www.example.com/")
request.addresses = [origin]
print(try await internalOnly.fetch(request).status)
},
Recipe("Add a field to every request", prints: #"""
7

"""#) {
let traced = HTTPClient {
    local(&$0)
    $0.interceptors.append { request, forward in
        var request = request
        request.headers["X-Request-Id"] = "7"
        return try await forward(request)
    }
}
print(try await traced.get("https://www.example.com/fields").text ?? "")
},
Recipe("Log requests", prints: #"""
#1 --> GET https://www.example.com/?token=***

"""#) {
let talkative = HTTPClient {
    local(&$0)
    HTTPLogger(.basic) { line in
        if line.contains("-->") { print(line) }
    }.install(in: &$0)
}
_ = try await talkative.get("https://www.example.com/?token=abc")
},
Recipe("Measure a call", prints: #"""
302 true
200 true

"""#) {
let observed = HTTPClient {
    local(&$0)
    $0.observer = { event in
        guard case .ended(let report) = event.kind else { return }
        for exchange in report.exchanges { print(exchange.status ?? .ok, exchange.duration > .zero) }
    }
}
_ = try await observed.get("https://www.example.com/old")
},
Recipe("Make many small requests cheaply", prints: #"""
["api.example.com"]

"""#) {
let client = HTTPClient { local(&$0) }
let items = try HTTPURL("https://api.example.com/items/7")
try await withTaskExecutorPreference(client.executor) {
    for _ in 1...100 { _ = try await client.get(items) }
}
print(client.connections.map(\.origin.host.description))
},
Recipe("Print a request as a curl command", prints: #"""
curl --http1.1 --globoff --path-as-is \
  --request PUT \
  https://www.example.com/items/7 \
  --resolve www.example.com:443:203.0.113.7 \
  --noproxy '*' \
  --compressed \
  --header 'User-Agent: reader/1' \
  --header 'Accept: */*' \
  --header 'Accept-Encoding: gzip, deflate' \
  --header 'Content-Type: text/plain; charset=utf-8' \
  --header Expect: \
  --data-raw 'it'\''s new'

"""#) {
var request = HTTPClient.Request(.put, "https://www.example.com/items/7", body: .text("it's new"))
request.headers["User-Agent"] = "reader/1"
request.addresses = ["203.0.113.7"]
print(try HTTPClient().curlCommand(for: request))
},
Recipe("Call without async", prints: #"""
200

"""#) {
let status = try await onThread { try client.blocking.get("https://www.example.com/").status }
print(status)
},
Recipe("Test a program without a network", prints: #"""
[]
201

"""#) {
let router = MockRouter()
router.on(.get, "https://api.example.com/items/*") { try .init(to: $0, 200, body: Array("[]".utf8)) }
router.on(.post, "https://api.example.com/items", calls: 1...1) { try .init(to: $0, 201) }
let mocked = HTTPClient { $0.transport = router.transport }
print(try await mocked.get("https://api.example.com/items/7").text ?? "")
print(try await mocked.post("https://api.example.com/items", .text("tea")).status)
try router.verify()
},
Recipe("Replay what was recorded", prints: #"""
hello

"""#) {
let recorder = HARRecorder()
let recording = HTTPClient {
    local(&$0)
    $0.networkInterceptors.append(recorder.interceptor)
}
_ = try await recording.get("https://www.example.com/")
let replay = try HARReplay(recorder.archive)
let offline = HTTPClient { $0.transport = replay.transport }
print(try await offline.get("https://www.example.com/").text ?? "")
},
]
