internal import DirectJSON

/// A difference between the result that a vector expects and the actual one.
struct Difference: Equatable, Sendable {
    var what: String
    var expected: String
    var got: String
    /// The right by which it judges other clients. `nil` is that of the vector.
    var right: Right?
    /// Whether the client did less than the vector asks: an attack has not reached it then.
    var isLess = false

    /// Returns one difference if the values differ, else none. `nil` for `expected` means that any value is
    /// accepted.
    static func between<Value: Equatable>(_ what: String, expected: Value?, got: Value?) -> [Difference] {
        guard let expected, expected != got else { return [] }
        return [Difference(what: what, expected: "\(expected)", got: got.map { "\($0)" } ?? "nothing")]
    }

    /// Returns one difference if the bytes differ, else none. They are shown as text, with escapes.
    static func between(_ what: String, expected: [UInt8]?, got: [UInt8]?) -> [Difference] {
        between(what, expected: expected?.quoted, got: got?.quoted)
    }

    /// The difference with the place where it was found in front.
    func found(in place: String) -> Difference {
        var difference = self
        if !place.isEmpty { difference.what = "\(place): \(what)" }
        return difference
    }
}

extension [Difference] {
    /// The differences by this right, whatever that of the vector is.
    func judged(by right: Right) -> [Difference] {
        map { difference in
            var difference = difference
            difference.right = right
            return difference
        }
    }

    /// The differences as those of a client that did less than the vector asks.
    var asLess: [Difference] {
        map { difference in
            var difference = difference
            difference.isLess = true
            return difference
        }
    }
}

extension [UInt8] {
    /// The bytes as a JSON text whose characters each stand for one, cut if they are many.
    fileprivate var quoted: String {
        let limit = 200
        let text = "\(JSONValue.string(Array(prefix(limit)).latin1))"
        return count > limit ? "\(text)… (\(count) bytes)" : text
    }
}
