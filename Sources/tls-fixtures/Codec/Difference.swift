/// Something that a vector wants otherwise.
struct Difference: Equatable, Sendable {
    var what: String
    var expected: String
    var got: String

    /// The difference between what is wanted, if anything is, and what came.
    static func between<Value: Equatable>(_ what: String, _ expected: Value?, _ got: Value?) -> [Difference] {
        guard let expected, expected != got else { return [] }
        return [Difference(what: what, expected: "\(expected)", got: got.map { "\($0)" } ?? "nothing")]
    }
}
