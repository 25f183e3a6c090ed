/// A first-in, first-out ring buffer of jobs. It belongs to one thread.
struct JobQueue {
    private var ring: UnsafeMutablePointer<UnownedJob>
    private var mask: Int
    /// The positions of the first job and behind the last. Both only ever grow; a job's slot is its position modulo
    /// the capacity.
    private var head = 0
    private var tail = 0

    init() {
        ring = .allocate(capacity: 1024)
        mask = 1023
    }

    var isEmpty: Bool { head == tail }

    mutating func append(_ job: UnownedJob) {
        if tail - head > mask { grow() }
        (ring + (tail & mask)).initialize(to: job)
        tail += 1
    }

    mutating func popFirst() -> UnownedJob? {
        guard head < tail else { return nil }
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
        head = 0
    }
}
