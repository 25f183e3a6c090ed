/// A difference between the result that a vector expects and the actual one.
struct Difference: Equatable, Sendable {
    var what: String
    var expected: String
    var got: String

    /// Returns one difference if the values differ, else none. `nil` for `expected` means that any value is
    /// accepted.
    static func between<Value: Equatable>(_ what: String, expected: Value?, got: Value?) -> [Difference] {
        guard let expected, expected != got else { return [] }
        return [Difference(what: what, expected: "\(expected)", got: got.map { "\($0)" } ?? "nothing")]
    }
}
