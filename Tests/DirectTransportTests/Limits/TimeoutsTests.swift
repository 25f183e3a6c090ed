@testable import DirectCore
@testable import DirectTransport
import Testing

@Suite("The values of time limits")
struct TimeoutsTests {
    @Test("Limits are equal whether they are set at the start or later")
    func settingLater() {
        let given = Timeouts.numbered
        var set = Timeouts()
        set.queue = .seconds(1)
        set.resolve = .seconds(2)
        set.connect = .seconds(3)
        set.tls = .seconds(4)
        set.write = .seconds(5)
        set.response = .seconds(6)
        set.read = .seconds(7)
        set.continue = .seconds(8)
        set.minimumSpeed = .init(bytes: 10, in: .seconds(9))
        set.total = .seconds(11)
        #expect(set == given)
    }

    @Test("Each limit has its own machine word")
    func words() {
        let limits = Timeouts.numbered.nanoseconds
        let words =
            limits.idle.map(\.nanoseconds) + [limits.speed.nanoseconds, limits.speed.bytes, limits.total]
        let seconds: [UInt64] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
        #expect(words == seconds.map { $0 * 1_000_000_000 } + [10, 11_000_000_000])
    }

    @Test("Each phase has a limit by default")
    func defaults() {
        #expect(Timeouts().nanoseconds.idle.allSatisfy { $0.nanoseconds < .max })
    }

    @Test("An unlimited speed is no minimum, as none is")
    func unlimited() {
        let timeouts = Timeouts(minimumSpeed: .unlimited)
        #expect(timeouts.nanoseconds.speed == Timeouts(minimumSpeed: nil).nanoseconds.speed)
        #expect(Timeouts(minimumSpeed: .init(bytes: 1, in: .zero)).nanoseconds.speed.nanoseconds == 1_000_000)
    }
}

extension Timeouts.Nanoseconds {
    fileprivate var idle: [IdleLimit] {
        [queue, resolve, connect, tls, write, response, read, `continue`]
    }
}

extension Timeouts {
    /// Limits of which no two are alike.
    static let numbered = Timeouts(
        queue: .seconds(1),
        resolve: .seconds(2),
        connect: .seconds(3),
        tls: .seconds(4),
        write: .seconds(5),
        response: .seconds(6),
        read: .seconds(7),
        continue: .seconds(8),
        minimumSpeed: .init(bytes: 10, in: .seconds(9)),
        total: .seconds(11)
    )
}
