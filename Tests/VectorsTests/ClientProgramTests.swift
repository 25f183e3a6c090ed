import DirectJSON
import DirectTestCommands
import Foundation
import Testing

@testable import tls_fixtures

@Suite("Client programs", .idleLimit)
struct ClientProgramTests {
    private static let description = #"{"contract": 1, "name": "toy", "version": "2", "codings": []}"#

    /// Runs one vector of `names` against a shell script that describes itself and then does `loop`.
    private func row(_ loop: String, vectors: String = nameVector()) async throws -> [Row] {
        let fixtures = try TemporaryFixtures(["names/a.json": "[\(vectors)]"])
        let folder = try VectorFolder(fixtures: fixtures.path)
        let command = "echo '\(Self.description)'; \(loop)"
        let client = try await ClientProgram(command, width: 1, longestLine: 1 << 20)
        #expect(client.title == "toy")
        var rows: [Row] = []
        _ = try await Run(folder: folder, vectors: folder.vectors, clients: [client]).run { rows.append($0) }
        return rows
    }

    @Test("A program may leave a job out, with its reason")
    func leftOut() async throws {
        let rows = try await row(
            #"while read line; do n=$((n+1)); echo "{\"id\": $n, \"left\": \"too hard\"}"; done"#
        )
        #expect(rows.map(\.outcome) == [.left("too hard")])
    }

    @Test(
        "A program that fails by itself is no verdict on the client, and is started again for the next vector",
        arguments: [
            (#"read line; echo '{"id": 9, "left": ""}'"#, "a result for job 9 instead of 1"),
            (#"read line; echo nonsense"#, "breaks the contract"),
            (#"read line; echo '{"id": 1}'"#, "either results, left or broken is expected"),
            (#"read line; echo '{"id": 1, "results": []}'"#, "0 results for 1 requests"),
            (#"read line; echo '{"id": 1, "results": [{"status": 200}]}'"#, "headers"),
            (#"read line; echo '{"id": 1, "broken": "a mistake"}'"#, "a mistake"),
            (
                #"read line; echo '{"id": 1, "results": [{"status": -9, "headers": [], "body": ""}]}'"#,
                "no status"
            ),
            (
                #"read line; head -c 2000000 /dev/zero | tr '\0' x; sleep 100"#,
                "a line of more than 1048576 bytes"
            ),
            ("read line; echo oops >&2; exit 3", "ended with status 3; it says: oops"),
            ("exit 4", "ended with status 4"),
        ]
    )
    func breach(_ loop: String, _ wanted: String) async throws {
        let rows = try await row(loop, vectors: "\(nameVector()), \(nameVector("a: two"))")
        #expect(rows.count == 2)
        for row in rows {
            guard case .broken(let why) = row.outcome else {
                Issue.record("\(row)")
                continue
            }
            #expect(why.contains(wanted), "\(why)")
        }
    }

    @Test(
        "A client that crashes fails the vector, and is started again for the next",
        arguments: [("kill -9 $$", 9), ("sh -c 'kill -4 $$'; exit $?", 4)]
    )
    func crash(_ end: String, _ signal: Int) async throws {
        let rows = try await row("read line; \(end)", vectors: "\(nameVector()), \(nameVector("a: two"))")
        #expect(rows.count == 2)
        for row in rows {
            guard case .failed(let differences) = row.outcome else {
                Issue.record("\(row)")
                continue
            }
            #expect(
                differences.contains { $0.got.contains("was killed by signal \(signal)") },
                "\(differences)"
            )
        }
    }

    @Test("A job that has reached its time limit is given again with three times the limit, and that counts")
    func patience() async throws {
        let refusal = #"{"verdict": "refuse", "reason": "wrongName"}"#
        let vector = nameVector(certificate: "default", expect: refusal)
        // It takes note of the limits that it is given.
        let notes = NSTemporaryDirectory() + "limits-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: notes) }
        let loop = """
            n=0; while read line; do n=$((n+1)); k=wrongName; [ $n = 1 ] && k=timeout
            case $line in *'"timeout":4000'*) echo 4000;; *'"timeout":12000'*) echo 12000;; esac >>\(notes)
            echo '{"id": '$n', "results": [{"error": {"kind": "'$k'", "text": "no"}}]}'; done
            """
        let rows = try await row(loop, vectors: vector)
        #expect(rows.first?.tries == 2)
        #expect(try String(contentsOfFile: notes, encoding: .utf8) == "4000\n12000\n")
        let always = try await row(loop.replacing("[ $n = 1 ] &&", with: ""), vectors: nameVector())
        #expect(always.first?.tries == 2)
        guard case .failed = always.first?.outcome else {
            Issue.record("\(always)")
            return
        }
    }

    @Test("A client that crashes in a vector of requests fails it, although nothing was sent")
    func crashInRequest() async throws {
        let fixtures = try TemporaryFixtures([
            "request/a.json": """
            [{"name": "a: one", "why": "x", "reference": "RFC 9112", "right": "must", "headers": [["A", "b\\r\\nc"]],
            "expect": {"error": "invalidRequestFieldValue A"}}]
            """
        ])
        let folder = try VectorFolder(fixtures: fixtures.path)
        let client = try await ClientProgram("echo '\(Self.description)'; read line; kill -7 $$", width: 1)
        var rows: [Row] = []
        _ = try await Run(folder: folder, vectors: folder.vectors, clients: [client]).run { rows.append($0) }
        guard case .failed(let differences) = rows.first?.outcome else {
            Issue.record("\(rows)")
            return
        }
        #expect(differences.contains { $0.what == "client" && $0.got.contains("signal 7") })
    }

    @Test(
        "A program that does not describe itself is refused",
        arguments: [
            ("exit 5", "does not describe itself"), ("echo hello", "is not a description"),
            (
                #"echo '{"contract": 2, "name": "a", "version": "", "codings": []}'"#,
                "contract 2 instead of 1"
            ),
            (#"echo '{"contract": 1, "name": "a", "version": ""}'"#, "codings"),
        ]
    )
    func description(_ command: String, _ wanted: String) async throws {
        await #expect {
            _ = try await ClientProgram(command)
        } throws: { error in
            "\(error)".contains(wanted)
        }
    }

    @Test("A job is the same after it was written and read")
    func jobs() async throws {
        let folder = try VectorFolder(fixtures: checkedInFixtures)
        let authority = try WireAuthority(certificates: folder.certificates)
        var count = 0
        for vector in folder.vectors where vector.head.topic != .routes {
            guard case .plans(let plans) = vector.trials(folder, authority: authority, codings: []) else {
                continue
            }
            let job = try plans[0].start().job
            let text = "\(job.json(id: 7, proxy: "127.0.0.1:1"))"
            let read = try StrictDecoder.decode(NumberedJob.self, from: try JSONReader.read(Array(text.utf8)))
            #expect(read.id == 7)
            #expect("\(read.job.json(id: 7, proxy: "127.0.0.1:1"))" == text)
            count += 1
        }
        #expect(count >= 1000)
    }

    @Test("An outcome is the same after it was written and read")
    func outcomes() throws {
        let response = ReportedResponse(
            status: 203,
            reason: "Fine",
            version: "HTTP/1.0",
            fields: [("A", "\u{ff}"), ("A", "")],
            body: [0, 0xFF, 0x22],
            trailers: [("T", "1")],
            interims: [100, 103],
            url: "https://a.test/",
            use: "stored"
        )
        let outcomes: [JobOutcome] = [
            .left("why"), .broken("why"),
            .done([
                RequestOutcome(
                    .response(response),
                    attempts: [("127.0.0.1:1", .answered), ("[::1]:2", .other("x"))]
                ),
                RequestOutcome(.response(ReportedResponse(fields: [], body: []))),
                RequestOutcome(.failed(kind: "timeout", detail: "d", text: "t")),
                RequestOutcome(.failed(kind: nil, text: "")),
            ]),
        ]
        for outcome in outcomes {
            let text = "\(outcome.json(id: 7))"
            let read = try StrictDecoder.decode(
                NumberedOutcome.self,
                from: try JSONReader.read(Array(text.utf8))
            )
            #expect(read.id == 7)
            #expect("\(read.outcome)" == "\(outcome)")
        }
    }

    @Test("The settings of dialling are the same after they were written and read")
    func dialling() throws {
        let folder = try VectorFolder(fixtures: checkedInFixtures)
        let authority = try WireAuthority(certificates: folder.certificates)
        var count = 0
        for case .routes(let vector) in folder.vectors where vector.dialling.isOfAnotherKind {
            guard
                case .plans(let plans) = Vector.routes(vector).trials(
                    folder,
                    authority: authority,
                    codings: []
                )
            else { continue }
            let job = try plans[0].start().job
            let text = "\(job.json(id: 1, proxy: nil))"
            let read = try StrictDecoder.decode(NumberedJob.self, from: try JSONReader.read(Array(text.utf8)))
            #expect(read.job.settings.dialling?.keepsOrder == vector.dialling.keepsOrder)
            #expect(
                read.job.settings.dialling?.passesOverWrongServers == vector.dialling.passesOverWrongServers
            )
            count += 1
        }
        #expect(count > 0)
    }
}
