@testable import DirectCore
@testable import DirectTransport
import Testing

@testable import DirectHTTP

@Suite("The cache of recent entries")
struct ShelfTests {
    private final class Thing: LRUEntry {
        let key: CacheKey
        let variant: CacheVariant
        let cost: Int

        init(_ number: UInt64, variant: UInt64 = 0, cost: Int = 10) {
            key = CacheKey(digest: Digest128(high: 0, low: number))
            let digest = Digest128(high: 0, low: variant)
            self.variant = CacheVariant(names: VaryNames(names: []), digest: digest)
            self.cost = cost
        }

        func isNewer(than other: Thing) -> Bool { variant.digest.low > other.variant.digest.low }
    }

    private func key(_ number: UInt64) -> CacheKey { CacheKey(digest: Digest128(high: 0, low: number)) }

    @Test("The cache never exceeds its size, and drops the entries least recently used")
    func oldest() {
        var shelf = LRUCache<Thing>(byteLimit: 50, countLimit: 100)
        for number in 1...5 { shelf.add(Thing(UInt64(number))) }
        #expect(shelf.find(key(1)) { _ in true } != nil)
        shelf.add(Thing(6))
        #expect(shelf.bytes == 50 && shelf.count == 5)
        #expect(shelf.find(key(2)) { _ in true } == nil)
        #expect(shelf.find(key(1)) { _ in true } != nil)
        shelf.add(Thing(7, cost: 45))
        #expect(shelf.count == 1)
        shelf.add(Thing(8, cost: 51))
        #expect(shelf.find(key(8)) { _ in true } == nil && shelf.count == 1)
    }

    @Test("The cache limits the number of entries and of variants for one URL")
    func counts() {
        var shelf = LRUCache<Thing>(byteLimit: 1 << 20, countLimit: 40)
        for number in 0..<100 { shelf.add(Thing(UInt64(number))) }
        #expect(shelf.count == 40)
        for variant in 0..<100 { shelf.add(Thing(1000, variant: UInt64(variant))) }
        #expect(shelf.count <= 40)
        var seen = 0
        _ = shelf.find(key(1000)) { _ in
            seen += 1
            return false
        }
        #expect(seen == 32)
        #expect(shelf.find(key(1000)) { _ in true }?.variant.digest.low == 99)
    }

    @Test("An entry is replaced only if it is still there")
    func replaces() {
        var shelf = LRUCache<Thing>(byteLimit: 100, countLimit: 10)
        let (old, new) = (Thing(1), Thing(1, cost: 20))
        shelf.add(old)
        shelf.replace(old, with: new)
        #expect(shelf.find(key(1)) { _ in true } === new && shelf.bytes == 20)
        shelf.remove(key(1))
        shelf.replace(new, with: old)
        #expect(shelf.count == 0 && shelf.bytes == 0)
    }

    @Test("Reserved room counts, and makes older entries go")
    func reservations() {
        var shelf = LRUCache<Thing>(byteLimit: 100, countLimit: 100)
        for number in 1...10 { shelf.add(Thing(UInt64(number))) }
        let answers = [shelf.reserve(35), shelf.reserve(66)]
        #expect(answers == [true, false])
        #expect(shelf.bytes == 60 && shelf.reserved == 35)
        let isLastTaken = shelf.reserve(65)
        #expect(isLastTaken && shelf.bytes == 0 && shelf.reserved == 100)
        shelf.add(Thing(11))
        #expect(shelf.count == 0)
        shelf.release(50)
        shelf.add(Thing(11, cost: 50))
        shelf.removeAll()
        #expect(shelf.bytes == 0 && shelf.reserved == 50)
    }

    @Test("The totals are right after random operations")
    func random() {
        var reserved = 0
        var shelf = LRUCache<Thing>(byteLimit: 500, countLimit: 30)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            let number = UInt64.random(in: 0..<20, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0 where reserved > 0:
                shelf.release(reserved)
                reserved = 0
            case 0:
                let size = Int.random(in: 1...300, using: &generator)
                if shelf.reserve(size) { reserved += size }
            case 9: shelf.remove(key(number))
            case 1..<4: _ = shelf.find(key(number)) { $0.variant.digest.low % 2 == 0 }
            default:
                let variant = UInt64.random(in: 0..<4, using: &generator)
                shelf.add(Thing(number, variant: variant, cost: .random(in: 1...60, using: &generator)))
            }
            var (bytes, count) = (0, 0)
            for number in 0..<20 {
                _ = shelf.find(key(UInt64(number))) { thing in
                    bytes += thing.cost
                    count += 1
                    return false
                }
            }
            guard bytes == shelf.bytes, count == shelf.count, bytes + reserved <= 500, count <= 30 else {
                Issue.record("\(bytes) bytes and \(count) entries, but \(shelf.bytes) and \(shelf.count)")
                return
            }
        }
    }
}
