// What the measured programs of this package share: settings, clocks, and the line that scripts/bench reads.
import Glibc
public import Synchronization

/// The settings on the command line, `WORK key=value...`; peers/bench.h describes them.
public struct Settings: Sendable {
    public let work, scheme, host, address, port, path, roots: String
    /// The interface that the `foundation` program uses: `bridge`, `urlprotocol` or `urlsession`.
    public let way: String
    public let length, count, warmUp, inFlight, settle: Int
    public let last: UInt8?
    public let resumes, onLoop: Bool
    /// The size in KiB of the bodies that occupy connections while all are being opened; with 0 the pool
    /// decides how many it opens.
    public let opening: Int
    /// The number of responses that a cache holds, or of whatever else there are many, and the folder of the
    /// cache; `nil` for a cache in memory.
    public let objects: Int
    public let folder: String?

    public init(_ arguments: [String]) {
        guard arguments.count > 1 else { fail("usage: PROGRAM WORK key=value...") }
        var values: [String: String] = [:]
        for argument in arguments.dropFirst(2) {
            guard let equals = argument.firstIndex(of: "=") else { fail("not key=value: \(argument)") }
            values[String(argument[..<equals])] = String(argument[argument.index(after: equals)...])
        }
        func number(_ key: String, _ otherwise: Int = 0) -> Int {
            guard let text = values[key] else { return otherwise }
            guard let number = Int(text), number >= 0 else { fail("not a number: \(text)") }
            return number
        }
        work = arguments[1]
        scheme = values["scheme"] ?? "https"
        host = values["host"] ?? "bench.test"
        address = values["address"] ?? "127.0.0.1"
        port = values["port"] ?? ""
        path = values["path"] ?? "/small"
        roots = values["ca"] ?? "system"
        way = values["way"] ?? ""
        length = number("length")
        count = number("count", 1)
        warmUp = number("warmup")
        inFlight = number("inflight", 1)
        settle = number("settle")
        last = values["last"]?.utf8.first
        resumes = number("resume") != 0
        onLoop = values["executor"] != "task"
        opening = number("opening")
        objects = number("objects", 10_000)
        folder = values["folder"]
        if port.isEmpty { fail("no port") }
    }

    public func url(_ path: String) -> String { "\(scheme)://\(host):\(port)\(path)" }
}

/// Ends the run: wrong responses must not result in a figure.
public func fail(_ reason: String) -> Never {
    "error: \(reason)\n".withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
    exit(1)
}

/// The processor time of this process and the time of the clock, in microseconds.
public struct Reading {
    let cpu, wall: Int

    public static var now: Reading {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        return Reading(
            cpu: seconds * 1_000_000 + Int(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
            wall: time.tv_sec * 1_000_000 + time.tv_nsec / 1000
        )
    }
}

/// Returns `VmRSS` or `VmHWM` in KiB.
public func memoryKiB(_ field: String) -> Int {
    guard let status = fopen("/proc/self/status", "r") else { fail("cannot read /proc/self/status") }
    defer { fclose(status) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), status) != nil {
        guard strncmp(line, field, field.utf8.count) == 0 else { continue }
        return Int(line.withUnsafeBufferPointer { strtol($0.baseAddress! + field.utf8.count + 1, nil, 10) })
    }
    fail("no \(field) in /proc/self/status")
}

/// Returns malloc's free memory to the system.
public func trimHeap() {
    // <malloc.h> is not in the Glibc module.
    guard let address = dlsym(nil, "malloc_trim") else { fail("no malloc_trim") }
    _ = unsafeBitCast(address, to: (@convention(c) (Int) -> Int32).self)(0)
}

/// Prints the line that scripts/bench reads.
public func report(units: Int, from: Reading, to: Reading, memoryAtStart: Int) {
    print(
        "units=\(units) cpu_us=\(to.cpu - from.cpu) wall_us=\(to.wall - from.wall) rss_start_kib=\(memoryAtStart)",
        "rss_peak_kib=\(memoryKiB("VmHWM")) rss_end_kib=\(memoryKiB("VmRSS"))"
    )
    fflush(nil)
}

/// Counts 1, 2, 3 and so on across many tasks.
public final class Counter: Sendable {
    @usableFromInline let value = Atomic(0)

    public init() {}

    @inlinable
    public func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}

/// How long each request took, in microseconds.
public final class Latencies: Sendable {
    private let all = Mutex<[Int32]>([])

    public init() {}
    public func removeAll() { all.withLock { $0 = [] } }
    public func add(_ some: [Int32]) { all.withLock { $0 += some } }

    /// Prints the figures in the form of ``report(units:from:to:memoryAtStart:)``, on the same line.
    public func report() {
        let sorted = all.withLock { $0.sorted() }
        guard !sorted.isEmpty else { return }
        let (middle, slow) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
        print("p50_us=\(middle) p99_us=\(slow)", terminator: " ")
    }
}
