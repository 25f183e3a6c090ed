/// Real code that can be used in several ways: a subject of the explorer that cannot be copied.
package protocol Replayable: AnyObject {
    associatedtype Move: CustomStringConvertible
    associatedtype Key: Hashable

    /// The moves that are possible now.
    var moves: [Move] { get }
    func make(_ move: Move)
    /// Equal for two subjects from which the same can happen.
    var key: Key { get }
    /// The rule that is broken; `nil` if none is.
    var fault: String? { get }
    /// Whether all that has to happen has happened.
    var isFinished: Bool { get }
}

/// A subject after some moves. It is made anew, with all moves from the first, for each further one.
package struct Replay<Subject: Replayable>: Explorable {
    private let start: () -> Subject
    private let moves: [Subject.Move]
    private let subject: Subject

    package init(_ start: @escaping () -> Subject) {
        self.init(start, [])
    }

    private init(_ start: @escaping () -> Subject, _ moves: [Subject.Move]) {
        self.start = start
        self.moves = moves
        subject = start()
        for move in moves { subject.make(move) }
    }

    package var key: Subject.Key { subject.key }
    package var fault: String? { subject.fault }
    package var isFinished: Bool { subject.isFinished }
    package var steps: [(label: String, next: Self)] {
        subject.moves.map { (label: $0.description, next: Self(start, moves + [$0])) }
    }
}
