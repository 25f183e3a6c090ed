internal import DirectCore
internal import DirectHTTP

/// The rounds of `--watch`: the same run again and again, until a signal ends it.
///
/// On a terminal each round is drawn in place of the one before. In a pipe only changes follow the first
/// round. A file of `--output` is replaced in each round.
struct Watch {
    private let options: Options
    private let surroundings: Run.Surroundings
    private var console: Console { surroundings.console }
    private let pause: Duration
    /// The text of the last round, if it was drawn.
    private var drawn = ""

    init(_ options: Options, in surroundings: Run.Surroundings, pause: Duration) {
        (self.options, self.surroundings, self.pause) = (options, surroundings, pause)
    }

    /// Runs the rounds and returns the exit code of the last whole one, or that of an error.
    mutating func run() throws(UsageError) -> Int32 {
        guard isDrawn else { return try rounds() }
        // The screen of its own leaves what was there before; the last round is printed on that at the end.
        _ = Console.write(Array("\u{1B}[?1049h".utf8), to: 1)
        defer { _ = Console.write(Array("\u{1B}[?1049l\(drawn)".utf8), to: 1) }
        return try rounds()
    }

    /// Whether the rounds are drawn on a terminal.
    private var isDrawn: Bool { console.isTerminal && options.format == .text && options.output == nil }

    private mutating func rounds() throws(UsageError) -> Int32 {
        let memory = ChangesOutput.Memory()
        while true {
            let code = try round(memory)
            if let signal = Interrupts.signal { return ExitCode.interrupted(by: signal) }
            guard !Console.hasLostOutput else { return code }
            memory.endRound()
            var rest = pause.clampedNanoseconds
            let end = Instant.now.advanced(byNanoseconds: rest)
            while rest > 0, !Interrupts.hasCome {
                _ = surroundings.alarm.sleep(orInputAt: nil, limit: .nanoseconds(Int64(clamping: rest)))
                rest = end.since(.now).clampedNanoseconds
            }
            if let signal = Interrupts.signal { return ExitCode.interrupted(by: signal) }
        }
    }

    private mutating func round(_ memory: ChangesOutput.Memory) throws(UsageError) -> Int32 {
        if options.output != nil { return try ProbeCommand.runOnce(options, in: surroundings) }
        guard isDrawn else {
            let base = ProbeCommand.output(for: options, console, .standardOutput)
            let changes = ChangesOutput(base, memory)
            return try Run(options, to: changes, in: surroundings).run()
        }
        let sink = OutputSink.memory
        let output = FailuresFirst(ProbeCommand.output(for: options, console, sink))
        let run = try Run(options, to: output, in: surroundings)
        run.report = { _ = sink.write(Array("\n\($0)\n".utf8)) }
        let code = run.run()
        if Interrupts.hasCome { return code }
        let counts = run.digest.failed > 0 ? ", \(Words.grouped(run.digest.failed)) failed" : ""
        let head = "every \(pause.text), last at \(UTC.stamp(Int(UnixTime.now.seconds)))\(counts)\n\n"
        drawn = head + String(decoding: sink.bytes, as: UTF8.self)
        // Home, the text, each line cleared to its end, then everything below.
        let text = Self.cut(drawn, to: Console.windowHeight).joined(separator: "\u{1B}[K\n")
        _ = Console.write(Array("\u{1B}[H\(text)\u{1B}[J".utf8), to: 1)
        return code
    }

    /// The lines of a text that fit into so many, with a line on how many do not.
    static func cut(_ text: String, to height: Int?) -> [Substring] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let height, height > 4, lines.count > height else { return lines }
        let shown = height - 2
        return lines.prefix(shown) + ["... and \(Words.grouped(lines.count - shown)) more lines"]
    }
}
