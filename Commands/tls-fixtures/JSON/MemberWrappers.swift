internal import DirectJSON

/// The value of a member that is absent.
protocol Fallback {
    associatedtype Value: Decodable & Sendable
    static var value: Value { get }
}

enum False: Fallback { static let value = false }
enum True: Fallback { static let value = true }
enum Zero: Fallback { static let value: Int64 = 0 }
enum Get: Fallback { static let value = "GET" }

/// A member that may be absent, and what it is then: `@Or<False> var close: Bool`.
@propertyWrapper struct Or<Absent: Fallback>: FromJSON, MayBeAbsent, Sendable {
    var wrappedValue: Absent.Value

    init() { wrappedValue = Absent.value }
    init(_ value: JSONValue) throws(FieldError) { wrappedValue = try StrictDecoder.decode(from: value) }
}

/// A list that is empty if the member is absent.
@propertyWrapper struct OrEmpty<Value: RangeReplaceableCollection & Decodable>: FromJSON, MayBeAbsent {
    var wrappedValue = Value()

    init() {}
    init(_ value: JSONValue) throws(FieldError) { wrappedValue = try StrictDecoder.decode(from: value) }
}

/// A member that must be present, but may be null.
@propertyWrapper struct OrNull<Value: Decodable>: FromJSON {
    var wrappedValue: Value?

    init(_ value: JSONValue) throws(FieldError) { wrappedValue = try StrictDecoder.decode(from: value) }
}

/// A list of two.
struct Pair<Element: Decodable>: FromJSON {
    var elements: [Element]

    init(_ value: JSONValue) throws(FieldError) {
        elements = try StrictDecoder.decode(from: value)
        guard elements.count == 2 else { throw value.wrong("a pair") }
    }
}

/// A list of names with values, each a list of two. The list is empty if the member is absent.
@propertyWrapper struct Pairs<Name: Decodable, Value: Decodable>: FromJSON, MayBeAbsent {
    var wrappedValue: [(name: Name, value: Value)] = []

    init() {}

    init(_ value: JSONValue) throws(FieldError) {
        for element in try value.elements() {
            let pair = try element.elements()
            guard pair.count == 2 else { throw value.wrong("an array of names and values") }
            let name = try StrictDecoder.decode(Name.self, from: pair[0])
            wrappedValue.append((name, try StrictDecoder.decode(from: pair[1])))
        }
    }
}

extension Or: Equatable where Absent.Value: Equatable {}
extension OrEmpty: Equatable where Value: Equatable {}
extension OrEmpty: Sendable where Value: Sendable {}
extension OrNull: Sendable where Value: Sendable {}
extension Pair: Sendable where Element: Sendable {}
extension Pairs: Sendable where Name: Sendable, Value: Sendable {}
