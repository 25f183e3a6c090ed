import DirectIO
import DirectTestTime
import Testing

@testable import DirectCore
@testable import DirectHTTP

@Suite("The limit of a question to a resolver")
struct QuestionLimitTests {
    private let time = HeldTime()

    private func limit(within outer: QuestionLimit? = nil) -> QuestionLimit {
        QuestionLimit(.seconds(3), on: time.loop, within: outer) { .never }
    }

    @Test("It stands still while any of the questions waits on this side, and goes on where it stood")
    func standing() {
        let limit = limit()
        let (first, second) = (limit.wait(), limit.wait())
        time.advance(by: .seconds(5))
        first.end()
        #expect(limit.start == nil && limit.end == .never)
        time.advance(by: .seconds(1))
        second.end()
        #expect(limit.end == time.moment(after: .seconds(3)))
        time.advance(by: .seconds(2))
        let again = limit.wait()
        time.advance(by: .seconds(10))
        again.end()
        again.end()
        #expect(limit.end == time.moment(after: .seconds(1)))
    }

    @Test("What passes before the first question is no silence, for those around it neither")
    func stopped() {
        let outer = limit()
        time.advance(by: .seconds(1))
        let inner = limit(within: outer)
        // The process is stopped for longer than any limit.
        time.advance(by: .seconds(12))
        let wait = inner.wait()
        time.advance(by: .seconds(1))
        wait.end()
        #expect(inner.end == time.moment(after: .seconds(3)))
        // The second before the inner one began was its own.
        #expect(outer.end == time.moment(after: .seconds(2)))
    }

    @Test("Those around it, and those that follow it later, stand still with it")
    func following() {
        let outer = limit()
        let inner = limit(within: outer)
        let later = limit()
        var wait: QuestionLimit.Wait? = inner.wait()
        inner.lead(later)
        #expect(outer.start == nil && later.start == nil)
        time.advance(by: .seconds(1))
        #expect(wait != nil)
        // A question that is given up does not wait any more.
        wait = nil
        for limit in [outer, inner, later] { #expect(limit.end == time.moment(after: .seconds(3))) }
    }
}
