internal import DirectCore
internal import DirectHTTP

/// The rounds of `--watch`: the same run again and again, until a signal ends it.
///
/// Only changes follow the first round. A file of `--output` is replaced in each round.
struct Watch {
    let options: Options
    let surroundings: Run.Surroundings
    let pause: Duration

    /// Runs the rounds and returns the exit code of a signal, or that of an error.
    func run() throws(UsageError) -> Int32 {
        let changes = ChangesOutput(
            ProbeCommand.output(for: options, surroundings.console, .standardOutput)
        )
        while true {
            let code =
                options.output == nil
                ? try Run(options, to: changes, in: surroundings).run()
                : try ProbeCommand.runOnce(options, in: surroundings)
            guard !Console.hasLostOutput || Interrupts.hasCome else { return code }
            let end = Instant.now.advanced(byNanoseconds: pause.clampedNanoseconds)
            while end > .now, !Interrupts.hasCome {
                _ = surroundings.alarm.sleep(orInputAt: nil, limit: end.since(.now))
            }
            if let signal = Interrupts.signal { return ExitCode.interrupted(by: signal) }
        }
    }
}
