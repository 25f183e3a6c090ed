/// A state of a small model, from which every order of its steps is tried.
package protocol Explorable {
    associatedtype Key: Hashable

    /// Equal for two states from which the same can happen.
    var key: Key { get }
    /// The steps that are possible now, of all threads, with their results.
    var steps: [(label: String, next: Self)] { get }
    /// The rule that is broken; `nil` if none is.
    var fault: String? { get }
    /// Whether all that has to happen has happened.
    var isFinished: Bool { get }
}

/// What was found in all orders of the steps of a model.
package struct Exploration {
    /// The number of different states.
    package private(set) var states = 0
    /// The rule that is broken, with the shortest way to it; `nil` if none is.
    package private(set) var fault: String?
    /// The steps of that way.
    package private(set) var path: [String] = []
    /// Whether there were no more states or steps than the limits allow.
    package private(set) var isComplete = true

    /// Tries all orders of steps from `start`, the shortest first.
    ///
    /// A state that is not finished and from which no steps lead to a finished one is a fault, too: something
    /// is waited for that cannot come. So a model may run in a circle, as a loop does that reads old values.
    ///
    /// - Parameter depth: The number of steps after which a state counts as finished.
    package init<Model: Explorable>(_ start: Model, depth: Int = .max, limit: Int = 1_000_000) {
        var search = Search(start)
        while let index = search.next() {
            let fault = search.models[index].fault ?? (search.models.count > limit ? "too many states" : nil)
            if let fault {
                end(with: fault, index, of: search)
                return
            }
            search.advance(index, isLast: search.depths[index] >= depth)
        }
        states = search.states.count
        if let stuck = search.firstStuck {
            end(with: "nothing leads to the end from here", stuck, of: search)
        }
    }

    private mutating func end<Model>(with fault: String, _ index: Int, of search: Search<Model>) {
        states = search.states.count
        self.fault = fault
        path = search.path(to: index)
        isComplete = false
    }
}

extension Exploration: CustomStringConvertible {
    package var description: String {
        guard let fault else { return "\(states) states, no fault" }
        return "\(fault) after \(path.count) steps:\n  \(path.joined(separator: "\n  "))"
    }
}

/// The states that have been found, in the order of their distance from the first.
private struct Search<Model: Explorable> {
    private(set) var states: [Model.Key: Int] = [:]
    private(set) var models: [Model] = []
    private(set) var depths: [Int] = []
    private var parents: [(index: Int, label: String)] = []
    /// The states from which a step leads to each state.
    private var origins: [[Int]] = []
    private var ends: [Int] = []
    private var position = 0

    init(_ start: Model) {
        _ = add(start, from: -1, label: "", depth: 0)
    }

    mutating func next() -> Int? {
        guard position < models.count else { return nil }
        defer { position += 1 }
        return position
    }

    mutating func advance(_ index: Int, isLast: Bool) {
        let model = models[index]
        if model.isFinished || isLast { ends.append(index) }
        guard !isLast else { return }
        for (label, next) in model.steps {
            let place = add(next, from: index, label: label, depth: depths[index] + 1)
            origins[place].append(index)
        }
    }

    private mutating func add(_ model: Model, from parent: Int, label: String, depth: Int) -> Int {
        let key = model.key
        if let known = states[key] { return known }
        states[key] = models.count
        models.append(model)
        depths.append(depth)
        parents.append((parent, label))
        origins.append([])
        return models.count - 1
    }

    /// The nearest state from which no steps lead to the end.
    var firstStuck: Int? {
        var canEnd = [Bool](repeating: false, count: models.count)
        var open = ends
        for end in ends { canEnd[end] = true }
        while let index = open.popLast() {
            for origin in origins[index] where !canEnd[origin] {
                canEnd[origin] = true
                open.append(origin)
            }
        }
        return canEnd.firstIndex(of: false)
    }

    func path(to index: Int) -> [String] {
        var (labels, index) = ([String](), index)
        while parents[index].index >= 0 {
            labels.append(parents[index].label)
            index = parents[index].index
        }
        return labels.reversed()
    }
}
