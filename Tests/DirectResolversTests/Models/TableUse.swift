@testable import DirectCore
@testable import DirectHTTP
import DirectIO
@testable import DirectResolvers
import DirectTestModels

/// An `AnswerTable` with room for two of three names, beside a list that does the same in the plainest way.
final class TableUse: Replayable {
    enum Move: CustomStringConvertible {
        case keep(Int), deny(Int), fail(Int), demote(Int), forget, tick

        var description: String {
            switch self {
            case .keep(let name): "keep \(name)"
            case .deny(let name): "deny \(name)"
            case .fail(let name): "fail \(name)"
            case .demote(let name): "demote \(name)"
            case .forget: "forget all"
            case .tick: "time passes"
            }
        }
    }

    fileprivate struct Entry: Hashable {
        let name: Int
        var addresses: [String]
        let end: UInt64
    }

    private let stale: UInt64
    private var table: AnswerTable
    private var list: [Entry] = []
    private var time: UInt64 = 1
    private(set) var fault: String?

    init(stale: UInt64) {
        self.stale = stale
        let rules = AnswerTable.Rules(
            shortest: 0,
            longest: .max,
            otherwise: 9,
            negative: 7,
            stale: stale,
            refreshesAhead: false,
            capacity: 2
        )
        table = AnswerTable(rules)
    }

    var moves: [Move] {
        (0..<3).flatMap { [.keep($0), .deny($0)] } + [.fail(0), .demote(0), .demote(1), .forget, .tick]
    }
    var isFinished: Bool { true }
    private var now: Instant { Instant(nanoseconds: time) }
    private func key(_ name: Int) -> AnswerKey { AnswerKey(host: .test("n\(name).test"), port: 0) }
    /// No two names have the same time to live, so that it is known which one goes first.
    private func lifetime(_ name: Int) -> UInt64 { UInt64(2 + 2 * name) }

    func make(_ move: Move) {
        switch move {
        case .keep(let name):
            let endpoints: [Endpoint] = ["10.0.0.1", "10.0.0.2"]
            let answer = Resolution(
                endpoints,
                timeToLive: .nanoseconds(Int64(lifetime(name))),
                source: .resolver("r")
            )
            table.keep(answer, for: key(name), at: now)
            put(Entry(name: name, addresses: ["10.0.0.1", "10.0.0.2"], end: time + lifetime(name)))
        case .deny(let name):
            table.keep(ResolverError("n\(name).test", .noSuchName), for: key(name), at: now)
            put(Entry(name: name, addresses: [], end: time + 7))
        case .fail(let name):
            table.keep(ResolverError("n\(name).test", .timedOut(after: .zero)), for: key(name), at: now)
        case .demote(let name):
            table.demote("10.0.0.1", for: key(name), port: 443)
            guard let index = list.firstIndex(where: { $0.name == name }) else { break }
            if !list[index].addresses.isEmpty { list[index].addresses = ["10.0.0.2", "10.0.0.1"] }
        case .forget:
            table.forgetAll()
            list = []
        case .tick: time += 1
        }
        compare()
    }

    private func put(_ entry: Entry) {
        if let index = list.firstIndex(where: { $0.name == entry.name }) {
            list.remove(at: index)
        } else if list.count == 2 {
            list.removeAll { $0.end + ($0.addresses.isEmpty ? 0 : stale) <= time }
            // Two denials may end together: then the table may drop either.
            let first = list.filter { $0.end == list.map(\.end).min() }
            if list.count == 2 { drop(first.first { isGone($0.name) } ?? first[0]) }
        }
        list.append(entry)
    }

    private func drop(_ entry: Entry) { list.removeAll { $0 == entry } }

    private func isGone(_ name: Int) -> Bool { table.entries[key(name)] == nil }

    private func compare() {
        for name in 0..<3 {
            let entry = list.first { $0.name == name }
            let lifetime = entry.map { $0.addresses.isEmpty ? $0.end : $0.end + stale } ?? 0
            let expected = time < lifetime ? entry?.addresses : nil
            if found(name) != expected {
                fault = "\(name): \(found(name) ?? ["-"]) instead of \(expected ?? ["-"])"
            }
        }
        if table.entries.count > 2 { fault = "more entries than the capacity" }
    }

    private func found(_ name: Int) -> [String]? {
        switch table.find(key(name), at: now) {
        case .answer(let answer, _): answer.endpoints.map { "\($0)" }
        case .denial: []
        case .nothing: nil
        }
    }

    struct Key: Hashable {
        fileprivate let list: [Entry]
        fileprivate let time: UInt64
        fileprivate let fault: String?
    }

    var key: Key { Key(list: list, time: time, fault: fault) }
}
