import DirectCore
import Testing

@testable import tls_fixtures

@Suite("Places of vectors that run at the same time") struct PlacesTests {
    @Test("No more run at a time than there are places, and all have their turn") func limit() async {
        let places = Places(3)
        let count = Locked((running: 0, most: 0, done: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await places.enter()
                    count.withLock { count in
                        count.running += 1
                        count.most = max(count.most, count.running)
                    }
                    await Task.yield()
                    count.withLock { count in
                        count.running -= 1
                        count.done += 1
                    }
                    places.leave()
                }
            }
        }
        let (running, most, done) = count.withLock { $0 }
        #expect(running == 0 && most <= 3 && done == 50)
    }

    @Test("Who is aside takes no place, and has one again behind it") func aside() async {
        let places = Places(1, aside: 1)
        await places.enter()
        await places.aside {
            // This would wait for ever if the place were still taken.
            await places.enter()
            places.leave()
        }
        places.leave()
        await places.enter()
    }

    @Test("Who comes back while its place is taken has one beside it, and the next one waits for both")
    func comingBack() async {
        let places = Places(1, aside: 1)
        await places.enter()
        await places.aside { await places.enter() }
        let isIn = Locked(false)
        async let next: Void = {
            await places.enter()
            isIn.withLock { $0 = true }
        }()
        places.leave()
        for _ in 0..<100 { await Task.yield() }
        #expect(!isIn.withLock { $0 })
        places.leave()
        await next
        #expect(isIn.withLock { $0 })
    }
}
