@testable import DirectCore
@testable import DirectIO
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("What a failure means for a program", .idleLimit)
struct FailureTests {
    enum End: CaseIterable {
        case fin
        case reset
        case closeNotify
    }

    /// The part of a response after which the connection is lost.
    enum Place: String, CaseIterable {
        case beforeHead = ""
        case inHead = "HTTP/1.1 200 OK\r\nContent-Len"
        case inBody = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123"

        var phase: HTTPError.Phase { self == .inBody ? .body : .response }
        var truncation: HTTP1Error {
            switch self {
            case .beforeHead: .closedBeforeResponse
            case .inHead: .truncatedHead
            case .inBody: .truncatedContent(received: 3, expected: 10)
            }
        }
    }

    /// The error of a request whose connection ends so.
    private func error(at place: Place, _ end: End, isSecure: Bool) async throws -> HTTPError {
        let mayEnd = Gate()
        let step: ByteScript.Step =
            switch end {
            case .fin: .cut
            case .reset: .reset
            case .closeNotify: .closeNotify
            }
        let server = try FixtureServer.scripted(
            [.awaitHead, .send(place.rawValue), .wait(mayEnd), step],
            isSecure ? .tls(testAuthority.certificate(for: "a.test")) : .plain
        )
        let request = server.request(isSecure ? "https://a.test/" : "http://a.test/")
        // A reset may overtake bytes that were not read.
        guard place == .inBody else {
            mayEnd.open()
            return try await httpError { try await HTTPClient.trusting().fetch(request) }
        }
        let response = try await HTTPClient.trusting().send(request)
        mayEnd.open()
        return try await httpError { try await response.body.collect(upTo: 10) }
    }

    @Test("A connection that is lost is one answer, whatever ended it, where, and under which layer")
    func lost() async throws {
        for isSecure in [false, true] {
            for end in End.allCases where isSecure || end != .closeNotify {
                for place in Place.allCases {
                    let error = try await error(at: place, end, isSecure: isSecure)
                    #expect(error.isConnectionLoss && error.isWorthRetrying, "\(error)")
                    #expect(error.phase == place.phase, "\(error)")
                    if end == .reset {
                        let code = isSecure ? nil : error.systemError?.code
                        #expect(code == 104 || error.tlsError == .connectionLost(errno: 104), "\(error)")
                    } else {
                        #expect(error.protocolError == place.truncation, "\(error)")
                    }
                }
            }
        }
    }

    @Test("A connection that was never made is not lost, and may be made a little later")
    func neverMade() async throws {
        let refusing = try FixtureServer.refusing()
        let refused = try await httpError { try await HTTPClient.untimed().get(refusing.http()) }
        let inTLS = try FixtureServer.scripted([.awaitArrival, .reset])
        let reset = try await httpError {
            try await HTTPClient.trusting().fetch(inTLS.request("https://a.test/"))
        }
        for (error, phase) in [(refused, HTTPError.Phase.connect), (reset, .tls)] {
            #expect(error.phase == phase && !error.isConnectionLoss && error.isWorthRetrying, "\(error)")
        }
    }

    /// The failures of each row of the table.
    private static var failures: [[HTTPError]] {
        let reset = SystemError.receiving(code: ECONNRESET)
        let name = TLSError.nameMismatch(expected: "a.test", served: [])
        let again = LookupError(code: EAI_AGAIN, systemCode: 0)
        let none = LookupError(code: EAI_NONAME, systemCode: 0)
        let success: [HTTPStatus] = [408, 425, 429, 502, 503, 504]
        return [
            [
                HTTPError(.response, .http(.closedBeforeResponse)),
                HTTPError(.response, .http(.truncatedHead)),
                HTTPError(.body, .http(.truncatedContent(received: 1, expected: 2))),
                HTTPError(.body, .http(.truncatedChunks(received: 1))),
                HTTPError(.body, .http(.truncatedUntilClose(received: 1))),
            ],
            [HTTPError.Phase.write, .response, .body].flatMap {
                [
                    HTTPError($0, .system(reset)), HTTPError($0, .system(.sending(code: EPIPE))),
                    HTTPError($0, .tls(.connectionLost(errno: ETIMEDOUT))),
                ]
            },
            [
                HTTPError(.write, .connectionClosed), HTTPError(.body, .connectionClosed),
                HTTPError(.response, .tls(.truncated)),
            ],
            [
                HTTPError(.connect, .system(SystemError("connect", code: ECONNREFUSED))),
                HTTPError(.tls, .tls(.connectionLost(errno: ECONNRESET))), HTTPError(.tls, .tls(.truncated)),
                HTTPError(.tls, .tls(.protocolFailure(.notTLS, reason: "", code: 1))),
                HTTPError(.proxy, .system(reset)), HTTPError(.tls, .tls(.alertReceived(.internalError))),
            ],
            [
                HTTPError(.tls, .tls(name)), HTTPError(.tls, .tls(.badSettings(""))),
                HTTPError(.tls, .tls(.alertReceived(.handshakeFailure))),
                HTTPError(.response, .tls(.alertReceived(.certificateRequired))),
                HTTPError(.response, .tls(.proxyConnection(name: "p.test", .alertReceived(.unknownCA)))),
            ],
            [
                HTTPError(.response, .timedOut(after: .seconds(1))),
                HTTPError(.body, .tooSlow(Timeouts.Speed(bytes: 1, in: .seconds(1)))),
            ],
            [
                HTTPError(.response, .http(.notHTTP)), HTTPError(.body, .http(.invalidChunkSize)),
                HTTPError(.response, .http(.headTooLarge(limit: 1))),
            ],
            [HTTPError(.resolve, .lookup(again)), resolving(.timedOut(after: .seconds(1)))],
            [HTTPError(.resolve, .lookup(none)), resolving(.noSuchName), resolving(.noAddresses)],
            [
                .notAProxy(nil), .notAProxy(.notHTTP), .refused(ReceivedResponse(502)),
                .refused(ReceivedResponse(429)), .socksReply(4),
            ].map { (fault: ProxyError) in HTTPError(.proxy, .proxy(fault)) },
            [.refused(ReceivedResponse(403)), .socksReply(2), .wrongCredentials].map { (fault: ProxyError) in
                HTTPError(.proxy, .proxy(fault))
            },
            success.map { HTTPError(.response, .status($0)) },
            [300, 404, 500].map { HTTPError(.response, .status($0)) },
            [],
            ["open", "write", "fsync", "rename"].map {
                HTTPError(.body, .system(SystemError($0, code: ENOSPC)))
            },
            [
                HTTPError(.body, .coding(.truncated(.gzip))), HTTPError(.body, .bodyTooLarge(limit: 1)),
                HTTPError(.body, .lineTooLong(limit: 1)), HTTPError(.body, .notEventStream),
            ],
            [
                HTTPError(.request, .timedOut(after: .seconds(1))), HTTPError(.request, .system(reset)),
                HTTPError(.write, .bodySource(CancellationError())),
                HTTPError(.redirect, .redirect(.tooMany(limit: 1, isLoop: false))),
            ],
        ]
    }

    private static func resolving(_ reason: ResolverError.Reason) -> HTTPError {
        HTTPError(.resolve, .resolver(ResolverError("a", reason)))
    }

    @Test("The table of failures in Calls.md says what the client says")
    func table() throws {
        let page = URL(filePath: #filePath).appending(path: "../../../../docs/Calls.md").standardized
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        let head = try #require(lines.firstIndex { $0.hasPrefix("| failure |") })
        let rows = lines[(head + 2)...].prefix { $0.hasPrefix("|") }.map {
            $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        try #require(rows.count == Self.failures.count)
        for (row, errors) in zip(rows, Self.failures) {
            for error in errors {
                #expect(row[2] == (error.isConnectionLoss ? "yes" : "no"), "\(row[0]): \(error)")
                #expect(row[3] == (error.isWorthRetrying ? "yes" : "no"), "\(row[0]): \(error)")
            }
        }
        // An authenticator's own error decides.
        let own: [(any Error, Bool)] = [
            (HTTPError(.connect, .connectionClosed), true), (CancellationError(), false),
        ]
        for (error, isWorth) in own {
            for reason: HTTPError.Reason in [.authenticator(error), .proxy(.authenticator(error))] {
                let failure = HTTPError(.response, reason)
                #expect(failure.isWorthRetrying == isWorth && !failure.isConnectionLoss)
            }
        }
    }
}
