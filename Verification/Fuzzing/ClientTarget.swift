import DirectCore
import DirectHTTP1
import DirectIO

@testable import DirectHTTP

extension FuzzTarget {
    /// The whole client, against a server on loopback that sends the input. Time stands still, so that no
    /// limit ends a call.
    ///
    /// - Each call ends, with a response or an `HTTPError` of one line.
    /// - Without redirects, cookies, cache and decoding the client delivers exactly what the response reader
    ///   finds in the same bytes, and fails if that fails.
    /// - Each request is well-formed and has the Host that its URL had; no answer injects anything behind it.
    static let client = FuzzTarget(name: "client") { choices in
        let stage = ClientStage.shared
        let settings = choices.number(below: 32)
        let method: HTTPMethod = choices.pick([.get, .post, .head, .put])
        let ends = choices.number(below: 16)
        let cuts = choices.cuts(of: 1024, atMost: 3)
        let texts = choices.texts().prefix(4)
        let answers = texts.enumerated().map { index, text in
            ScriptedServer.Answer(
                pieces: text.pieces(cutAt: index == 0 ? cuts : []),
                closesAfterwards: ends & (1 << min(index, 2)) == 0,
                resets: ends & 8 != 0 && index == texts.count - 1
            )
        }
        stage.play(method, settings: settings, answers: answers)
    }
}

/// The server and the loop, which all runs share.
private final class ClientStage: Sendable {
    static let shared = ClientStage()

    private enum Outcome: Equatable, Sendable {
        case response(HTTPStatus, HTTPHeaders, [UInt8])
        case failure(String)
    }

    private let server = ScriptedServer()
    private let loop = EventLoop(clock: HeldClock())

    func play(_ method: HTTPMethod, settings: Int, answers: [ScriptedServer.Answer]) {
        server.begin(answers)
        let result = run(method, settings: settings)
        if case .failure(let text) = result {
            require(text.isOneLine, "an error is one line: \(text.debugDescription)")
        }
        let requests = server.requests
        for request in requests { checkRequest(request) }
        guard settings == 0, let first = answers.first, requests.count == 1, !first.resets,
            method == .get || method == .head
        else { return }
        compare(result, of: method, with: first)
    }

    /// Runs one call to its end, from a thread that is not one of Swift's.
    private func run(_ method: HTTPMethod, settings: Int) -> Outcome {
        let outcome = Locked<Outcome?>(nil)
        let arrival = Condition()
        Task { [self] in
            let ended = await call(method, settings: settings)
            outcome.withLock { $0 = ended }
            arrival.signal()
        }
        return outcome.wait(at: arrival, nanoseconds: Self.patience) { outcome, _ in outcome }
            ?? .failure("no outcome")
    }

    /// As long as libFuzzer gives a run, in nanoseconds.
    private static let patience: UInt64 = 3_600_000_000_000

    private func call(_ method: HTTPMethod, settings: Int) async -> Outcome {
        let client = HTTPClient { configure(&$0, settings: settings) }
        var request = HTTPClient.Request(method, "http://a.test/dir/file?q")
        if method == .post || method == .put { request.body = .bytes(Array("hello".utf8)) }
        do {
            let response = try await client.fetch(request)
            if settings & 2 != 0 { _ = try? await client.fetch(request) }
            return .response(response.status, response.headers, response.body)
        } catch let error as HTTPError {
            return .failure("\(error)")
        } catch {
            require(false, "a call fails with HTTPError only, not \(error)")
            return .failure("")
        }
    }

    private func configure(_ configuration: inout HTTPClient.Configuration, settings: Int) {
        configuration.loop = loop
        let endpoint = Endpoint(stringLiteral: "127.0.0.1:\(server.port)")
        do { try configuration.addresses.set([endpoint], for: .any) } catch { require(false, "\(error)") }
        configuration.redirects = settings & 1 == 0 ? .deliver : .follow
        configuration.maximumBufferedBody = 1 << 20
        if settings & 4 != 0 { configuration.cookies = CookieJar() }
        if settings & 8 != 0 { configuration.cache = .memory() }
        configuration.decoding.isEnabled = settings & 16 != 0
    }

    private func checkRequest(_ request: [UInt8]) {
        let lines = request.text.dropLast(4).split(separator: "\r\n", omittingEmptySubsequences: false)
        require(request.allSatisfy { isTextByte($0) || $0 == 13 || $0 == 10 }, "a request is text")
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
        require(words.count == 3 && words[2] == "HTTP/1.1" && words[1].hasPrefix("/"), "a request line")
        let names = lines.dropFirst().map { $0.prefix { $0 != ":" }.lowercased() }
        requireEqual(names.filter { $0 == "host" }.count, 1, "one Host")
        require(names.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isTokenByte) }, "names are tokens")
        require(
            names.filter { $0 == "content-length" || $0 == "transfer-encoding" }.count <= 1,
            "one framing"
        )
    }

    /// The reader alone, on the same bytes, is the model.
    private func compare(_ result: Outcome, of method: HTTPMethod, with answer: ScriptedServer.Answer) {
        guard answer.closesAfterwards else { return }
        let expected = read(answer.pieces.flatMap { $0 }, answering: method)
        switch (expected, result) {
        // These statuses have a meaning of their own, for example that the request is to be sent again.
        case (.response(let status, _, _), _) where [401, 407, 408, 417, 421, 425].contains(Int(status.code)):
            break
        case (.failure, .failure): break
        default: requireEqual(result, expected, "what the reader finds")
        }
    }

    private func read(_ input: [UInt8], answering method: HTTPMethod) -> Outcome {
        var reader = ResponseReader()
        reader.begin(method)
        var (used, content, head) = (0, [UInt8](), ResponseHead?.none)
        do throws(HTTP1Error) {
            while true {
                let rest = input[used...]
                let step = try reader.next(rest.span)
                switch step.event {
                case .needsMore:
                    if case .end = try reader.endOfInput(clean: true), let head {
                        return .response(head.status, head.headers, content)
                    }
                    return .failure("incomplete")
                case .end: return head.map { .response($0.status, $0.headers, content) } ?? .failure("")
                case .head(let final): head = final
                case .content(let range):
                    content += input[(used + range.lowerBound)..<(used + range.upperBound)]
                case .interim, .trailers: break
                }
                used += step.used
            }
        } catch {
            return .failure("\(error)")
        }
    }
}
