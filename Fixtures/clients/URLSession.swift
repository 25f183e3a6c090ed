// URLSession of Foundation on Linux, without TLS: there it can be told no root. preload.so replaces its
// look-up.
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

typealias Object = [String: Any]

/// What one task receives. Without a completion handler the delegate decides on redirects.
final class Receiver: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    let follows: Bool
    let isDone = DispatchSemaphore(value: 0)
    var content = Data()
    var response: HTTPURLResponse?
    var error: (any Error)?

    init(follows: Bool) {
        self.follows = follows
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        self.response = response as? HTTPURLResponse
        content = Data()
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        content.append(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(follows ? request : nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.error = error
        response = response ?? task.response as? HTTPURLResponse
        isDone.signal()
    }
}

/// The bytes that a text of a job stands for, and the text for bytes.
func bytes(_ text: String) -> Data {
    Data(
        text.unicodeScalars.map { scalar in
            guard let byte = UInt8(exactly: scalar.value) else { fail("a character stands for no byte: \(text)") }
            return byte
        }
    )
}

/// Ends the program with a message. A mistake of the adapter is no signal: that would be the client's crash.
func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("URLSession: \(message)\n".utf8))
    exit(2)
}
func text(_ bytes: some Sequence<UInt8>) -> String {
    String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
}

/// Why the job is left out; nil if it is not.
func reasonToLeave(_ job: Object) -> String? {
    let settings = job["settings"] as? Object ?? [:]
    let requests = job["requests"] as? [Object] ?? []
    let known: Set = ["follow", "decode", "headers", "addresses"]
    if requests.contains(where: { !isPlain($0) }) {
        return "it can be told no root on Linux, so TLS is not tried"
    }
    if let name = settings.keys.first(where: { !known.contains($0) }) {
        return "it has no setting like `\(name)`"
    }
    if let name = keep(job).first(where: { !["connections", "cookies"].contains($0) }) {
        return "the adapter keeps no \(name)"
    }
    if job["time"] != nil { return "its clock cannot be set" }
    if requests.contains(where: { $0["upgrade"] != nil }) { return "it switches to no other protocol" }
    let fields = requests.flatMap(pairs) + (settings["headers"] as? [[String]] ?? [])
    if !fields.joined().allSatisfy({ $0.allSatisfy(\.isASCII) }) { return "it sends fields as UTF-8 only" }
    let urls = requests.map { $0["url"] as? String ?? "" }
    if urls.contains(where: { URL(string: $0) == nil }) { return "Foundation has no URL for this" }
    return nil
}

func isPlain(_ request: Object) -> Bool { (request["url"] as? String ?? "").lowercased().hasPrefix("http:") }
func keep(_ job: Object) -> [String] { job["keep"] as? [String] ?? [] }
func pairs(_ request: Object) -> [[String]] { request["headers"] as? [[String]] ?? [] }

func openSession(_ job: Object, follows: Bool) -> (URLSession, Receiver) {
    let receiver = Receiver(follows: follows)
    let configuration = URLSessionConfiguration.ephemeral
    let headers = (job["settings"] as? Object)?["headers"] as? [[String]] ?? []
    if !headers.isEmpty {
        configuration.httpAdditionalHeaders = Dictionary(headers.map { ($0[0], $0[1]) }) { "\($0), \($1)" }
    }
    return (URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil), receiver)
}

func answer(_ job: Object) -> [Object] {
    let follows = (job["settings"] as? Object)?["follow"] as? Bool ?? false
    var session: (URLSession, Receiver)?
    var results: [Object] = []
    for request in job["requests"] as? [Object] ?? [] {
        let cookies = session?.0.configuration.httpCookieStorage?.cookies ?? []
        if session == nil || !keep(job).contains("connections") {
            session?.0.finishTasksAndInvalidate()
            session = openSession(job, follows: follows)
            for cookie in cookies { session?.0.configuration.httpCookieStorage?.setCookie(cookie) }
        }
        guard let (session, receiver) = session else { continue }
        if !keep(job).contains("cookies") {
            for cookie in cookies { session.configuration.httpCookieStorage?.deleteCookie(cookie) }
        }
        results.append(send(request, session, receiver, Double(job["timeout"] as? Int ?? 5000) / 1000))
    }
    session?.0.finishTasksAndInvalidate()
    return results
}

func send(_ request: Object, _ session: URLSession, _ receiver: Receiver, _ seconds: Double) -> Object {
    guard let url = URL(string: request["url"] as? String ?? "") else {
        fail("a URL that was there is gone")
    }
    var outgoing = URLRequest(url: url)
    outgoing.httpMethod = request["method"] as? String ?? "GET"
    for pair in pairs(request) { outgoing.addValue(pair[1], forHTTPHeaderField: pair[0]) }
    if let body = request["body"] as? String {
        if request["stream"] as? Bool == true {
            outgoing.httpBodyStream = InputStream(data: bytes(body))
        } else {
            outgoing.httpBody = bytes(body)
        }
    }
    receiver.content = Data()
    receiver.response = nil
    receiver.error = nil
    let task = session.dataTask(with: outgoing)
    task.resume()
    if receiver.isDone.wait(timeout: .now() + seconds) == .timedOut {
        task.cancel()
        _ = receiver.isDone.wait(timeout: .now() + 5)
        return ["error": ["kind": "timeout", "text": "the time of the request is over"]]
    }
    if let error = receiver.error {
        let kind = (error as? URLError)?.code == .timedOut ? ["kind": "timeout"] : [:]
        return ["error": kind.merging(["text": text("\(error)".utf8)]) { $1 }]
    }
    guard let response = receiver.response else { return ["error": ["text": "no response and no error"]] }
    let headers = response.allHeaderFields.map { [text("\($0.key)".utf8), text("\($0.value)".utf8)] }
    return [
        "status": response.statusCode, "headers": headers, "body": text(receiver.content),
        "url": response.url?.absoluteString ?? "",
    ]
}

func write(_ value: Object) {
    guard let line = try? JSONSerialization.data(withJSONObject: value) else {
        fail("a line cannot be written: \(value)")
    }
    FileHandle.standardOutput.write(line + Data("\n".utf8))
}

for name in ProcessInfo.processInfo.environment.keys where name.lowercased().hasSuffix("_proxy") {
    unsetenv(name)
}
let system = ProcessInfo.processInfo.operatingSystemVersionString
#if compiler(>=6.3)
let compiler = "6.3"
#else
let compiler = "6"
#endif
// Foundation asks libcurl for all codings that it has; these are the ones of Debian's.
let codings = ["deflate", "gzip", "br", "zstd"]
write([
    "contract": 1, "name": "URLSession", "version": "of Swift \(compiler) on \(system)", "codings": codings,
])
while let line = readLine() {
    guard let job = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? Object else {
        fail("no job: \(line)")
    }
    let id = job["id"] as? Int ?? 0
    let connect = job["connect"] as? [String: [String]] ?? [:]
    let places = connect.map { "\($0.key)=\($0.value.joined(separator: ","));" }
    // Without any place, nothing may be connected to either.
    setenv("CLIENT_CONNECT", places.isEmpty ? ";" : places.joined(), 1)
    if let left = reasonToLeave(job) {
        write(["id": id, "left": left])
    } else {
        write(["id": id, "results": answer(job)])
    }
}
