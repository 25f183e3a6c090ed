/// Where results go: one form of output each.
///
/// `add` is called in the order of the input, `flush` whenever the run has nothing to do, `finish` once.
protocol RecordOutput: AnyObject {
    /// `isOnlyOne` tells the result of a run that has just this one.
    func add(_ record: ProbeRecord, isOnlyOne: Bool)
    func finish(_ tally: Tally, interrupted: Bool)
    /// Writes what has gathered; says false when nobody reads any more.
    func flush() -> Bool
    /// The exit code, where this form has codes of its own.
    func exitCode(_ tally: Tally) -> Int32?
}

extension RecordOutput {
    func exitCode(_ tally: Tally) -> Int32? { nil }
}

/// Bytes on their way to a descriptor.
struct OutputBuffer {
    private var bytes: [UInt8] = []
    private let descriptor: Int32
    private(set) var isBroken = false

    init(_ descriptor: Int32 = 1) {
        self.descriptor = descriptor
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
        isBroken = !Console.write(bytes, to: descriptor)
        bytes.removeAll(keepingCapacity: true)
        return !isBroken
    }

    private static let most = 256 << 10
}

/// No output at all: `--quiet`.
final class SilentOutput: RecordOutput {
    func add(_ record: ProbeRecord, isOnlyOne: Bool) {}
    func finish(_ tally: Tally, interrupted: Bool) {}
    func flush() -> Bool { true }
}
