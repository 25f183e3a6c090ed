@testable import DirectCore
@testable import DirectTransport
import Testing

@testable import DirectHTTP

@Suite("The cache of recent entries")
struct ShelfTests {
    private final class Entry: LRUEntry {
        let key: CacheKey
        let variant: CacheVariant
        let cost: Int

        init(_ number: UInt64, variant: UInt64 = 0, cost: Int = 10) {
            key = CacheKey(digest: Digest128(high: 0, low: number))
            let digest = Digest128(high: 0, low: variant)
            self.variant = CacheVariant(names: VaryNames(names: []), digest: digest)
            self.cost = cost
        }

        func isNewer(than other: Entry) -> Bool { variant.digest.low > other.variant.digest.low }
    }

    private func key(_ number: UInt64) -> CacheKey { CacheKey(digest: Digest128(high: 0, low: number)) }

    @Test("The cache never exceeds its size, and drops the entries least recently used")
    func oldest() {
        var cache = LRUCache<Entry>(byteLimit: 50, countLimit: 100)
        for number in 1...5 { cache.add(Entry(UInt64(number))) }
        #expect(cache.find(key(1)) { _ in true } != nil)
        cache.add(Entry(6))
        #expect(cache.bytes == 50 && cache.count == 5)
        #expect(cache.find(key(2)) { _ in true } == nil)
        #expect(cache.find(key(1)) { _ in true } != nil)
        cache.add(Entry(7, cost: 45))
        #expect(cache.count == 1)
        cache.add(Entry(8, cost: 51))
        #expect(cache.find(key(8)) { _ in true } == nil && cache.count == 1)
    }

    @Test("The cache limits the number of entries and of variants for one URL")
    func counts() {
        var cache = LRUCache<Entry>(byteLimit: 1 << 20, countLimit: 40)
        for number in 0..<100 { cache.add(Entry(UInt64(number))) }
        #expect(cache.count == 40)
        for variant in 0..<100 { cache.add(Entry(1000, variant: UInt64(variant))) }
        #expect(cache.count <= 40)
        var seen = 0
        _ = cache.find(key(1000)) { _ in
            seen += 1
            return false
        }
        #expect(seen == 32)
        #expect(cache.find(key(1000)) { _ in true }?.variant.digest.low == 99)
    }

    @Test("An entry is replaced only if it is still there")
    func replaces() {
        var cache = LRUCache<Entry>(byteLimit: 100, countLimit: 10)
        let (old, new) = (Entry(1), Entry(1, cost: 20))
        cache.add(old)
        cache.replace(old, with: new)
        #expect(cache.find(key(1)) { _ in true } === new && cache.bytes == 20)
        cache.remove(key(1))
        cache.replace(new, with: old)
        #expect(cache.count == 0 && cache.bytes == 0)
    }

    @Test("Reserved room counts, and makes older entries go")
    func reservations() {
        var cache = LRUCache<Entry>(byteLimit: 100, countLimit: 100)
        for number in 1...10 { cache.add(Entry(UInt64(number))) }
        let answers = [cache.reserve(35), cache.reserve(66)]
        #expect(answers == [true, false])
        #expect(cache.bytes == 60 && cache.reserved == 35)
        let isLastTaken = cache.reserve(65)
        #expect(isLastTaken && cache.bytes == 0 && cache.reserved == 100)
        cache.add(Entry(11))
        #expect(cache.count == 0)
        cache.release(50)
        cache.add(Entry(11, cost: 50))
        cache.removeAll()
        #expect(cache.bytes == 0 && cache.reserved == 50)
    }

    @Test("The totals are right after random operations")
    func random() {
        var reserved = 0
        var cache = LRUCache<Entry>(byteLimit: 500, countLimit: 30)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            let number = UInt64.random(in: 0..<20, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0 where reserved > 0:
                cache.release(reserved)
                reserved = 0
            case 0:
                let size = Int.random(in: 1...300, using: &generator)
                if cache.reserve(size) { reserved += size }
            case 9: cache.remove(key(number))
            case 1..<4: _ = cache.find(key(number)) { $0.variant.digest.low % 2 == 0 }
            default:
                let variant = UInt64.random(in: 0..<4, using: &generator)
                cache.add(Entry(number, variant: variant, cost: .random(in: 1...60, using: &generator)))
            }
            var (bytes, count) = (0, 0)
            for number in 0..<20 {
                _ = cache.find(key(UInt64(number))) { thing in
                    bytes += thing.cost
                    count += 1
                    return false
                }
            }
            guard bytes == cache.bytes, count == cache.count, bytes + reserved <= 500, count <= 30 else {
                Issue.record("\(bytes) bytes and \(count) entries, but \(cache.bytes) and \(cache.count)")
                return
            }
        }
    }
}
