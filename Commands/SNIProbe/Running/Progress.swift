internal import DirectCore
internal import DirectHTTP

/// The progress line of a run, on standard error if it is a terminal. It appears after one second.
struct Progress {
    private let isShown: Bool
    private var next: Instant
    private var isVisible = false

    private static let interval: UInt64 = 200_000_000

    init(isShown: Bool) {
        self.isShown = isShown
        next = Instant.now.advanced(byNanoseconds: 1_000_000_000)
    }

    /// The time until the next update. `nil` if progress is not shown.
    var timeUntilNext: Duration? { isShown ? max(next.since(Instant.now), .milliseconds(100)) : nil }

    /// Updates the line if it is due.
    ///
    /// - Parameters:
    ///   - done: The number of finished probes.
    ///   - total: The number of all probes, if it is known.
    ///   - failed: The number of failed probes.
    ///   - late: The number of probes that have failed and are tried again because of `--wait`.
    mutating func show(done: Int, of total: Int?, failed: Int, late: Int) {
        // A single probe is done soon, unless `--wait` repeats it.
        guard isShown, total != 1 || late > 0, next <= Instant.now else { return }
        next = Instant.now.advanced(byNanoseconds: Self.interval)
        let count = total.map { "\(Words.grouped(done)) of \(Words.grouped($0))" } ?? Words.grouped(done)
        let waiting = late > 0 ? ", waiting for \(Words.grouped(late))" : ""
        Console.complain("\r\u{1B}[K\(count), \(Words.grouped(failed)) failed\(waiting)")
        isVisible = true
    }

    /// Erases the line before results are printed.
    mutating func clear() {
        guard isVisible else { return }
        isVisible = false
        Console.complain("\r\u{1B}[K")
    }
}
