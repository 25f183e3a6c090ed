/// The words of a command line, one after the other.
package struct ArgumentReader {
    private var rest: ArraySlice<String>

    /// A mistake in the command line, described by a short English text.
    package struct Fault: Error, Equatable {
        package let what: String

        package init(what: String) { self.what = what }
    }

    package init(_ words: ArraySlice<String>) { rest = words }

    /// The number of words that are left.
    package var count: Int { rest.count }

    /// Returns the next word; `nil` at the end.
    package mutating func next() -> String? { rest.popFirst() }

    /// Returns the word after an option.
    package mutating func value(of option: String) throws(Fault) -> String {
        guard let value = rest.popFirst() else { throw Fault(what: "\(option) needs a value") }
        return value
    }

    /// Returns the word after an option as a number.
    package mutating func number<Number: LosslessStringConvertible>(
        of option: String,
        as type: Number.Type = Number.self
    ) throws(Fault) -> Number {
        let text = try value(of: option)
        guard let number = Number(text) else {
            throw Fault(what: "\(option) needs a number, not \"\(text)\"")
        }
        return number
    }
}
