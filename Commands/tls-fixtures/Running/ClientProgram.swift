internal import CommandKit
internal import TLSFixtures
internal import DirectCore
internal import DirectJSON

/// A client that is a program which speaks the contract of `Fixtures/clients`.
///
/// Several copies of the program run at the same time. One that hangs, crashes, fails or breaks the contract
/// is stopped, and another one is started for the next job.
final class ClientProgram: VectorClient {
    let facts: ClientDescription
    let width: Int
    private let command: String
    /// The number of bytes of a line at most. A program that floods must not take the memory of the machine.
    private let longestLine: Int
    private let idle: Locked<[ProgramConversation]>

    /// A program that does not speak the contract.
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// Starts the program and reads what it says of itself.
    ///
    /// - Throws: ``Fault``. (Swift 6.3 fails to optimise these functions with a typed error.)
    init(_ command: String, width: Int = 12, longestLine: Int = 64 << 20) async throws {
        let (conversation, facts) = try await Self.start(command, longestLine: longestLine)
        (self.command, self.facts, self.width, self.longestLine) = (command, facts, width, longestLine)
        idle = Locked([conversation])
    }

    /// The time within which the program must have written its first line. Interpreters take a while to start
    /// on a busy machine.
    private static let startLimit = Duration.seconds(30)

    private static func start(
        _ command: String,
        longestLine: Int
    ) async throws -> (ProgramConversation, ClientDescription) {
        guard let conversation = ProgramConversation(command, longestLine: longestLine) else {
            throw Fault(description: "\(command) cannot be started")
        }
        guard let line = await conversation.line(within: startLimit) else {
            throw Fault(
                description:
                    "\(command) does not describe itself in its first line, as clients/README.md of the fixtures says; \(conversation.lastWords)"
            )
        }
        do {
            return (conversation, try StrictDecoder.decode(from: try JSONReader.read(Array(line.utf8))))
        } catch {
            throw Fault(description: "\(command): its first line is not a description of a client: \(error)")
        }
    }

    func run(_ job: Job) async -> JobOutcome {
        let conversation: ProgramConversation
        if let waiting = idle.withLock({ $0.popLast() }) {
            conversation = waiting
        } else {
            do {
                conversation = try await Self.start(command, longestLine: longestLine).0
            } catch {
                return .broken("\(error)")
            }
        }
        let outcome = await conversation.outcome(of: job)
        switch outcome {
        case .done, .left: idle.withLock { $0.append(conversation) }
        case .crashed, .hung, .broken: conversation.stop()
        }
        return outcome
    }
}

/// One running copy of a client program. It does one job at a time.
private final class ProgramConversation: Sendable {
    private let process: InteractiveProcess
    private let count = Locked(0)

    init?(_ command: String, longestLine: Int) {
        guard let process = InteractiveProcess(command, longestLine: longestLine) else { return nil }
        self.process = process
    }

    /// What the program has last written for people.
    var lastWords: String {
        let words = process.lastErrors.split(separator: "\n").suffix(3).joined(separator: "; ")
        return words.isEmpty ? "it says nothing" : "it says: \(words)"
    }

    /// Returns the next line of the program, or `nil` if it ends or the time is over.
    func line(within limit: Duration) async -> String? {
        await onThread { [process] in process.readLine(within: limit) }
    }

    func outcome(of job: Job) async -> JobOutcome {
        let id = count.withLock { count in
            count += 1
            return count
        }
        let proxy = JobProxy.start(for: job)
        let line = "\(job.json(id: id, proxy: proxy.map { $0.authority }))\n"
        // Every request may take its whole time.
        let limit = Duration.milliseconds((job.timeout * job.requests.count + 6000) * job.patience)
        let answer = await onThread { [process] in
            process.write(line) ? process.readLine(within: limit) : nil
        }
        // The proxy stops when it is released.
        withExtendedLifetime(proxy) {}
        guard let answer else { return outcomeWithoutAnswer() }
        do {
            let value = try JSONReader.read(Array(answer.utf8))
            let line = try StrictDecoder.decode(NumberedOutcome.self, from: value)
            guard line.id == id else { return .broken("a result for job \(line.id) instead of \(id)") }
            if case .done(let results) = line.outcome, results.count != job.requests.count {
                return .broken("\(results.count) results for \(job.requests.count) requests")
            }
            return line.outcome
        } catch {
            return .broken("its result breaks the contract: \(error)")
        }
    }

    /// What came of a job without a result. A signal is the way in which a client crashes inside of its
    /// program, and an exit status is that of the program itself. (A shell reports a signal as a status above
    /// 128.)
    private func outcomeWithoutAnswer() -> JobOutcome {
        switch process.ending(within: .milliseconds(200)) {
        case nil where process.hasTooLongLine:
            .broken("a line of more than \(process.longestLine) bytes")
        case nil: .hung("no result: it is still running; \(lastWords)")
        case .killed(let signal)?: .crashed("no result: it was killed by signal \(signal); \(lastWords)")
        case .exited(let status)? where status > 128:
            .crashed("no result: it was killed by signal \(status - 128); \(lastWords)")
        case .exited(let status)?: .broken("no result: it ended with status \(status); \(lastWords)")
        }
    }

    func stop() { process.stop() }
}
