/// An output format for results.
///
/// `expect` is called for each probe before its result, `add` is called in the order of the input, `flush`
/// before the run sleeps, and `finish` once at the end.
protocol RecordOutput: AnyObject {
    /// Announces a probe whose result will be added, so that columns can be made wide enough.
    func expect(_ probe: Probe)
    /// Adds a result. `isOnlyOne` is set if the run has no other result.
    func add(_ record: ProbeRecord, isOnlyOne: Bool)
    /// Adds a result of the run that this one goes on with, and its line.
    func add(earlier result: ReportEntry, line: [UInt8])
    /// Adds the summary.
    func finish(_ digest: Digest, interrupted: Bool)
    /// Writes the buffered output. Returns `false` if the descriptor accepts no more.
    func flush() -> Bool
    /// Returns the exit code if this format defines its own, otherwise `nil`.
    func exitCode(_ digest: Digest) -> Int32?
}

extension RecordOutput {
    func exitCode(_ digest: Digest) -> Int32? { nil }

    func expect(_ probe: Probe) {}

    func add(earlier result: ReportEntry, line: [UInt8]) {}

    func finish(_ digest: Digest, interrupted: Bool) {}
}

/// An output that is written in pieces.
class BufferedOutput {
    final var buffer: OutputBuffer
    final let sink: OutputSink

    init(to sink: OutputSink = .standardOutput) {
        (buffer, self.sink) = (OutputBuffer(sink), sink)
    }

    final func flush() -> Bool { buffer.flush() }
}

/// Buffered output.
struct OutputBuffer {
    private var bytes: [UInt8] = []
    private let sink: OutputSink
    private(set) var isBroken = false

    init(_ sink: OutputSink = .standardOutput) {
        self.sink = sink
    }

    mutating func write(_ text: String) {
        bytes += text.utf8
        if bytes.count > Self.most { _ = flush() }
    }

    mutating func write(_ more: [UInt8]) {
        bytes += more
        if bytes.count > Self.most { _ = flush() }
    }

    mutating func flush() -> Bool {
        guard !isBroken else { return false }
        guard !bytes.isEmpty else { return true }
        isBroken = !sink.write(bytes)
        bytes.removeAll(keepingCapacity: true)
        return !isBroken
    }

    /// The size above which the buffer is written without a call of `flush`.
    private static let most = 256 << 10
}

/// No output at all: `--quiet`.
final class SilentOutput: RecordOutput {
    func add(_ record: ProbeRecord, isOnlyOne: Bool) {}
    func flush() -> Bool { true }
}
