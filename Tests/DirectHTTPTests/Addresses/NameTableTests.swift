@testable import DirectCore
import DirectTestData
@testable import DirectTransport
import Testing

@testable import DirectHTTP

@Suite("A table of names")
struct NameTableTests {
    @Test("A table of names gives the same results as a dictionary under random changes")
    func model() async {
        var random = SplitMix64(seed: 11)
        var table = NameTable<Int>()
        var model: [String: Int] = [:]
        for step in 0..<20_000 {
            await Task.yield()
            let number = Int.random(in: 0..<(step < 10_000 ? 700 : 60), using: &random)
            let name = "n\(number).\(String(repeating: "x", count: number % 40))"
            let tag = UInt32(number % 3)
            let key = "\(name) \(tag)"
            let value = Int.random(in: 0..<4, using: &random) == 0 ? nil : step
            let bytes = Array(name.utf8)
            table.set(value, name: bytes.span, tag: tag)
            model[key] = value
            let found = table.value(bytes.span, tag: tag)
            let other = table.value(bytes.span, tag: 7)
            #expect(found == value && other == nil)
            if step % 5000 == 4999 { table.keep { $0 % 2 == 0 }; model = model.filter { $0.value % 2 == 0 } }
        }
        #expect(table.count == model.count && !model.isEmpty)
        var seen: [String: Int] = [:]
        table.forEach { name, tag, value in seen["\(String(copying: name)) \(tag)"] = value }
        #expect(seen == model)
    }

    @Test(
        "The values of a host and of the names above it are found, the longest first; an address is no name"
    )
    func hosts() throws {
        var table = NameTable<Int>()
        let hosts = ["a.b.test", "b.test", "test", "1.2.3.4", "fe80::1", "fe80::1%eth0"]
        for (number, host) in hosts.enumerated() { table[try HTTPHost(host)] = number }
        table.set(9, name: Array("4".utf8).span, tag: 0)
        func found(_ host: String) throws -> [Int] {
            var values: [Int] = []
            table.visit(atOrAbove: try HTTPHost(host)) { values.append($0) }
            return values
        }
        #expect(try found("x.a.b.test") == [0, 1, 2] && found("c.test") == [2] && found("other") == [])
        #expect(try found("1.2.3.4") == [3] && found("fe80::1") == [4] && found("fe80::1%eth0") == [5])
        table[try HTTPHost("b.test")] = nil
        #expect(try found("a.b.test") == [0, 2])
    }

    @Test("Two tables with the same contents are equal, whatever the order")
    func equality() {
        var (one, two) = (NameTable<Int>(), NameTable<Int>())
        let names = (0..<100).map { Array("n\($0)".utf8) }
        for name in names { one.set(name.count, name: name.span, tag: 0) }
        for name in names.reversed() { two.set(name.count, name: name.span, tag: 0) }
        #expect(one == two && one.hashValue == two.hashValue)
        let third = names[3]
        two.set(9, name: third.span, tag: 0)
        #expect(one != two)
        two.set(nil, name: third.span, tag: 0)
        #expect(one != two)
    }
}
