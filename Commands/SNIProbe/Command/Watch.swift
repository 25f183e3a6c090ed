internal import DirectCore
internal import DirectHTTP

/// The rounds of `--watch`: the same run again and again, until a signal ends it.
///
/// On a terminal each round is drawn in place of the one before. In a pipe only changes follow the first
/// round. A file of `--output` is replaced in each round.
struct Watch {
    let options: Options
    let console: Console
    let alarm: Alarm
    let context: Result<SurveyContext, TLSError>?
    let pause: Duration

    /// Runs the rounds and returns the exit code of the last whole one, or that of an error.
    func run() throws(UsageError) -> Int32 {
        let memory = ChangesOutput.Memory()
        while true {
            let code = try round(memory)
            if let signal = Interrupts.signal { return ExitCode.interrupted(by: signal) }
            guard !Console.hasLostOutput else { return code }
            memory.endRound()
            var rest = pause.clampedNanoseconds
            let end = Instant.now.advanced(byNanoseconds: rest)
            while rest > 0, !Interrupts.hasCome {
                _ = alarm.sleep(orInputAt: nil, limit: .nanoseconds(Int64(clamping: rest)))
                rest = end.since(.now).clampedNanoseconds
            }
            if let signal = Interrupts.signal { return ExitCode.interrupted(by: signal) }
        }
    }

    private func round(_ memory: ChangesOutput.Memory) throws(UsageError) -> Int32 {
        let surroundings = Run.Surroundings(alarm: alarm, console: console, context: context)
        if options.output != nil { return try ProbeCommand.runOnce(options, in: surroundings) }
        guard console.isTerminal, options.format == .text else {
            let base = ProbeCommand.output(for: options, console, .standardOutput)
            let changes = ChangesOutput(base, memory)
            return try ProbeCommand.run(options, to: changes, in: surroundings).run()
        }
        let sink = OutputSink.memory
        let output = ProbeCommand.output(for: options, console, sink)
        let run = try ProbeCommand.run(options, to: output, in: surroundings)
        run.report = { _ = sink.write(Array("\n\($0)\n".utf8)) }
        let code = run.run()
        if Interrupts.hasCome { return code }
        let head = "every \(Words.span(pause)), last at \(UTC.stamp(Int(UnixTime.now.seconds)))\n\n"
        // Home, the text, each line cleared to its end, then everything below.
        let text = (head + String(decoding: sink.bytes, as: UTF8.self))
            .split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\u{1B}[K\n")
        _ = Console.write(Array("\u{1B}[H\(text)\u{1B}[J".utf8), to: 1)
        return code
    }
}
