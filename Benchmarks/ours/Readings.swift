import Glibc

/// The processor time of this process and the time of the clock, in microseconds.
struct Reading {
    let cpu: Int
    let wall: Int

    static var now: Reading {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Reading(
            cpu: microseconds(usage.ru_utime) + microseconds(usage.ru_stime),
            wall: time.tv_sec * 1_000_000 + time.tv_nsec / 1000
        )
    }

    private static func microseconds(_ time: timeval) -> Int {
        time.tv_sec * 1_000_000 + Int(time.tv_usec)
    }
}

/// Returns `VmRSS` or `VmHWM` in KiB.
func memoryKiB(_ field: String) -> Int {
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
func trimHeap() {
    // <malloc.h> is not in the Glibc module.
    guard let address = dlsym(nil, "malloc_trim") else { fail("no malloc_trim") }
    let trim = unsafeBitCast(address, to: (@convention(c) (Int) -> Int32).self)
    _ = trim(0)
}

/// Prints the line that scripts/bench reads.
func report(units: Int, from: Reading, to: Reading, memoryAtStart: Int) {
    print(
        "units=\(units)",
        "cpu_us=\(to.cpu - from.cpu)",
        "wall_us=\(to.wall - from.wall)",
        "rss_start_kib=\(memoryAtStart)",
        "rss_peak_kib=\(memoryKiB("VmHWM"))",
        "rss_end_kib=\(memoryKiB("VmRSS"))"
    )
    fflush(nil)
}
