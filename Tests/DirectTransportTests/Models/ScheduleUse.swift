@testable import DirectCore
import DirectIO
import DirectTestModels
@testable import DirectTransport

/// The schedule of a race, under all sequences of looks, ends of attempts, late answers and seconds.
final class ScheduleUse: Replayable {
    enum Move: String, CustomStringConvertible {
        case look, fail, win, complete, tick

        var description: String { rawValue }
    }

    private static let second: UInt64 = 1_000_000_000
    private static let end: UInt64 = 5

    private let late: Int
    /// A planted fault: the race does not note that an attempt has failed.
    private let forgetsFailures: Bool
    private var schedule: HappyEyeballsSchedule
    private var time: UInt64 = 0
    private var count = 1
    private var begun = 0
    private var running = 0
    private var lastBegin: UInt64 = 0
    private var hasFailed = false
    private var isDecided = false
    private var isComplete = false
    private var isOver = false
    private(set) var fault: String?

    init(late: Int, forgetsFailures: Bool = false) {
        self.late = late
        self.forgetsFailures = forgetsFailures
        let end = Instant(nanoseconds: Self.end * Self.second)
        schedule = HappyEyeballsSchedule(count: 1, stagger: Self.second, end: end, isComplete: false)
    }

    var isFinished: Bool { isOver }
    var moves: [Move] {
        if isOver { return [] }
        return [.look] + (running > 0 ? [.fail, .win] : []) + (isComplete ? [] : [.complete])
            + (time <= Self.end ? [.tick] : [])
    }

    func make(_ move: Move) {
        switch move {
        case .look: judge(schedule.next(at: Instant(nanoseconds: time * Self.second)))
        case .fail, .win:
            running -= 1
            hasFailed = true
            if move == .win { isDecided = true }
            if !forgetsFailures { schedule.noteEnd(isDecisive: move == .win) }
        case .complete:
            isComplete = true
            count = 3
            schedule.extend(count: 3, late: late, isComplete: true)
        case .tick: time += 1
        }
    }

    private var mayBegin: Bool { begun < count && time < Self.end }

    private func judge(_ step: HappyEyeballsSchedule.Step) {
        switch step {
        case .begin(let index):
            if index != begun { fault = "an attempt out of order" }
            if isDecided || !mayBegin { fault = "an attempt that may not begin" }
            if running > 0, !hasFailed, time <= lastBegin { fault = "two attempts at once" }
            (begun, running, lastBegin, hasFailed) = (begun + 1, running + 1, time, false)
        case .wait(let until):
            if isDecided || running == 0 && isComplete { fault = "a wait for nothing" }
            if mayBegin, until == .never || until.nanoseconds > (lastBegin + 2) * Self.second {
                fault = "a wait beyond the next attempt"
            }
            if until.nanoseconds <= time * Self.second { fault = "a wait that is over" }
        case .over:
            isOver = true
            let isSpent = running == 0 && !mayBegin && (isComplete || time >= Self.end)
            if !isDecided, !isSpent { fault = "a race that ends too early" }
        }
    }

    /// All that the schedule holds is in its text.
    var key: String {
        "\(schedule) \(time) \(begun) \(running) \(lastBegin) \(hasFailed) \(isOver) \(fault ?? "")"
    }
}
