/// One run of `sni-probe report`: reads the lines of the files one after the other, and keeps no more than a
/// report shows.
final class ReportRun {
    private let options: Options
    private let style: Style
    private let sink: OutputSink
    private let alarm = Alarm()
    private var buffer: OutputBuffer
    private var digest = Digest()
    private var log = SARIFText()
    private var badLines = BadLines()

    init(_ options: Options) throws(UsageError) {
        self.options = options
        style = Style(Console.detect(options.color), colors: options.output == nil)
        sink = try OutputSink.open(options)
        buffer = OutputBuffer(sink)
    }

    /// Reads everything, writes the report and returns the exit code.
    func run() throws(UsageError) -> Int32 {
        Interrupts.watch(alarm)
        if options.format == .sarif, !options.quiet { buffer.write(log.head) }
        for path in options.files {
            try read(path)
            if let signal = Interrupts.signal { return ExitCode.interrupted(by: signal) }
            guard !buffer.isBroken else { return try sink.endOfOutput() }
        }
        badLines.report()
        guard digest.count > 0 else {
            throw UsageError("there is no result in the files", code: ExitCode.noInput)
        }
        if !options.quiet { writeEnd() }
        guard buffer.flush() else { return try sink.endOfOutput() }
        try sink.commit()
        return digest.exitCode
    }

    private func read(_ path: String) throws(UsageError) {
        let source = try LineSource(path, longestLine: ReportEntry.longestLine)
        while !Interrupts.hasCome, !buffer.isBroken {
            switch source.next() {
            case .line(let text, let number): try take(text, from: source, number: number)
            case .fault(_, let number): try refuse(source, number: number)
            case .needsInput:
                if alarm.sleep(orInputAt: source.descriptor, limit: nil) { source.fill() }
            case .end:
                if let failure = source.failure { throw failure }
                return
            }
        }
    }

    private func take(_ text: String, from source: LineSource, number: Int) throws(UsageError) {
        let line = Array(text.utf8)
        guard let entry = ReportEntry(line) else {
            if line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { return }
            return try refuse(source, number: number)
        }
        digest.add(entry)
        guard !options.quiet else { return }
        switch options.format {
        case .json: buffer.write(line + [UInt8(ascii: "\n")])
        case .sarif: buffer.write(log.add(entry))
        default: break
        }
    }

    private func refuse(_ source: LineSource, number: Int) throws(UsageError) {
        let hint = "the last line of a run that was killed may be cut; --skip-bad leaves it out"
        var error = ReportEntry.unreadable(source.name, line: number, hint: hint)
        if options.skipsBad { error.hint = nil }
        guard options.skipsBad else { throw error }
        badLines.add(error)
    }

    private func writeEnd() {
        switch options.format {
        case .sarif: buffer.write(log.tail(isComplete: true))
        case .text: buffer.write(DigestText(digest: digest, style: style).text)
        default: break
        }
    }
}
