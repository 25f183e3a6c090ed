/// A first-in, first-out ring buffer of jobs. It belongs to one thread.
struct JobQueue: ~Copyable {
    private var ring: UnsafeMutablePointer<UnownedJob>
    private var mask: Int
    /// The positions of the first job and behind the last. Both only ever grow; a job's slot is its position
    /// modulo the capacity.
    private var head = 0
    private var tail = 0
    /// The position behind the last job of this turn.
    private var turnEnd = 0

    init() {
        ring = .allocate(capacity: 1024)
        mask = 1023
    }

    deinit {
        ring.deallocate()
    }

    var isEmpty: Bool { head == tail }

    mutating func append(_ job: UnownedJob) {
        if tail - head > mask { grow() }
        (ring + (tail & mask)).initialize(to: job)
        tail += 1
    }

    /// Begins a turn of at most `limit` jobs.
    mutating func beginTurn(limit: Int) {
        turnEnd = head + limit
    }

    /// Ends the turn after the jobs that are queued now.
    mutating func endTurn() {
        turnEnd = min(turnEnd, tail)
    }

    /// Returns the next job of the turn, or `nil` if the turn is over.
    mutating func next() -> UnownedJob? {
        guard head < min(tail, turnEnd) else { return nil }
        defer { head += 1 }
        return ring[head & mask]
    }

    /// Doubles the capacity.
    private mutating func grow() {
        let larger = UnsafeMutablePointer<UnownedJob>.allocate(capacity: (mask + 1) * 2)
        for index in head..<tail {
            (larger + (index - head)).initialize(to: ring[index & mask])
        }
        ring.deallocate()
        ring = larger
        mask = mask * 2 + 1
        tail -= head
        turnEnd -= head
        head = 0
    }
}
