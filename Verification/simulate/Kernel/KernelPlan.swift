internal import DirectCore
internal import Glibc

/// What is unkind in a world's kernel, beside its network. Linux's manual pages allow all of it, and
/// `scripts/lab` shows some of it on a real one.
struct KernelPlan: Codable, Equatable {
    /// Of a hundred connections that a server closes: it shuts down its sending only, and reads on for a
    /// while, as nginx does (lingering_close).
    var lingering = 0
    /// Of a hundred threads: refused (pthread_create(3), EAGAIN).
    var threadFailures = 0
    var lookups: LookupPlan?
    var stop: StopPlan?
    var clock: ClockPlan?
    /// Of a thousand calls of the disk: before these another process of the user has saved a file anew.
    var otherWriter: Int?
    /// Of a thousand files that are opened: these belong to another user (open(2), EACCES).
    var foreignFiles: Int?

    /// What is wrong with the system's resolver, for one family of addresses or for both.
    struct LookupPlan: Codable, Equatable {
        /// Whether there is no answer for the family, instead of a late one (getaddrinfo(3), EAI_AGAIN).
        var fails = false
        var isAboutV6: Bool?
        /// How late it is, in microseconds.
        var delay = 0
    }

    /// The program is stopped, and continued some time later (SIGSTOP, a suspended machine): all that
    /// happened meanwhile is found at once.
    struct StopPlan: Codable, Equatable {
        var time = 0
        var length = 0

        /// Whether limits of the client may have passed meanwhile for which nobody else is the reason.
        var isLong: Bool { length > 1_000_000 }
    }

    /// The clock that knows the date is set (clock_settime(2)); the other one never is.
    struct ClockPlan: Codable, Equatable {
        var time = 0
        var seconds = 0
    }

    init(drawnFrom dice: inout Dice) {
        if dice.chance(50) { lingering = dice.one(of: [30, 100]) }
        if dice.chance(5) { threadFailures = dice.one(of: [10, 50, 100]) }
        if dice.chance(8) {
            lookups = LookupPlan(
                fails: dice.chance(40),
                isAboutV6: dice.one(of: [nil, false, true, true]),
                delay: dice.one(of: [30_000, 1_000_000, 6_000_000, 250_000_000])
            )
        }
        if dice.chance(6) {
            stop = StopPlan(
                time: dice.number(in: 0...600) * 1000,
                length: dice.one(of: [20_000, 1_000_000, 6_000_000, 100_000_000, 1_000_000_000])
            )
        }
        if dice.chance(8) {
            let seconds = dice.one(of: [2, 60, 3600, 86_400])
            clock = ClockPlan(
                time: dice.number(in: 0...600) * 1000,
                seconds: dice.chance(50) ? seconds : -seconds
            )
        }
        if dice.chance(40) { otherWriter = dice.one(of: [10, 100]) }
        if dice.chance(40) { foreignFiles = 20 }
    }

    init() {}

    /// Takes away what may make a call fail.
    mutating func calmDown() {
        (threadFailures, lookups) = (0, nil)
        if stop?.isLong == true { stop = nil }
    }
}

extension Plan {
    /// The nanoseconds by which the date may be ahead of the time that has passed, or behind it.
    var clockAhead: UInt64 { UInt64(max(0, kernel?.clock?.seconds ?? 0)) * 1_000_000_000 }
    var clockBehind: UInt64 { UInt64(max(0, -(kernel?.clock?.seconds ?? 0))) * 1_000_000_000 }
}

extension Kernel {
    /// How long the system's resolver takes, in nanoseconds. One that never answers ends with its world.
    func lookUpTime(_ family: Int32) -> UInt64 {
        guard let lookups = plan.lookups, !lookups.fails, lookups.concerns(family) else { return 0 }
        count("fault: late lookup")
        return UInt64(lookups.delay) * 1000
    }

    /// Whether a file that is opened belongs to another user.
    var isForeignFile: Bool {
        guard let often = plan.foreignFiles, unkind.below(1000) < often else { return false }
        count("fault: file of another user")
        return true
    }

    /// Whether the system's resolver has no answer for a family.
    func lacksAnswer(for family: IPAddress.Family) -> Bool {
        guard let lookups = plan.lookups, lookups.fails else { return false }
        let lacks = lookups.isAboutV6.map { $0 == (family == .v6) } ?? true
        if lacks { count("fault: no answer of a lookup") }
        return lacks
    }
}

extension KernelPlan.LookupPlan {
    /// Whether a call for a family, or for both, has to wait for what is late.
    func concerns(_ family: Int32) -> Bool {
        family == AF_UNSPEC || isAboutV6 == nil || isAboutV6 == (family == AF_INET6)
    }
}
