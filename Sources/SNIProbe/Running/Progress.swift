internal import DirectHTTP

/// How far a run has come, on a terminal's standard error and only once it takes over a second.
struct Progress {
    private let isShown: Bool
    private var next: Instant
    private var isVisible = false

    private static let interval: UInt64 = 200_000_000

    init(isShown: Bool) {
        self.isShown = isShown
        next = Instant.now.advanced(byNanoseconds: 1_000_000_000)
    }

    /// How long until it should be shown anew; nothing where it never is.
    var timeUntilNext: Duration? { isShown ? max(next.since(Instant.now), .milliseconds(100)) : nil }

    /// `late` are those that have failed, and with `--wait` are tried again.
    mutating func show(done: Int, of total: Int?, failed: Int, late: Int) {
        // One alone is soon done, unless it is waited for.
        guard isShown, total != 1 || late > 0, next <= Instant.now else { return }
        next = Instant.now.advanced(byNanoseconds: Self.interval)
        let count = total.map { "\(Words.grouped(done)) of \(Words.grouped($0))" } ?? Words.grouped(done)
        let waiting = late > 0 ? ", waiting for \(Words.grouped(late))" : ""
        Console.complain("\r\u{1B}[K\(count), \(Words.grouped(failed)) failed\(waiting)")
        isVisible = true
    }

    /// Takes it away, so that results do not run into it.
    mutating func clear() {
        guard isVisible else { return }
        isVisible = false
        Console.complain("\r\u{1B}[K")
    }
}
