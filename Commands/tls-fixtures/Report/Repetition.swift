/// What came of each vector in several runs, to find those whose verdict is not always the same.
struct Repetition {
    /// A vector with a client.
    private struct Key: Hashable {
        var client: String
        var topic: Topic
        var name: String
    }

    private var order: [Key] = []
    private var verdicts: [Key: [String]] = [:]

    /// Adds the row of a vector. Each run adds every vector once.
    mutating func add(_ row: Row) {
        let key = Key(client: row.client, topic: row.head.topic, name: row.head.name)
        if verdicts[key] == nil { order.append(key) }
        verdicts[key, default: []].append(row.verdict)
    }

    /// A text for each vector whose verdict was not the same in all runs: which verdict in which runs.
    var differences: [String] {
        order.compactMap { key in
            let verdicts = verdicts[key] ?? []
            guard Set(verdicts).count > 1 else { return nil }
            var text = "VARIES  \(key.client), \(key.topic.rawValue), \(key.name)\n"
            for verdict in Set(verdicts).sorted() {
                let runs = verdicts.indices.filter { verdicts[$0] == verdict }.map { "\($0 + 1)" }
                text += "        \(verdict), in run \(runs.joined(separator: ", "))\n"
            }
            return text
        }
    }
}

extension Row {
    /// The outcome in a word. How a vector fails may depend on chance; that it fails must not.
    fileprivate var verdict: String {
        switch outcome {
        case .passed: "passed"
        case .failed: differsByChoice ? "differs" : "failed"
        case .left(let why): "left out: \(why)"
        case .broken: "adapter failed"
        }
    }
}
