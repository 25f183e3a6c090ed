internal import DirectJSON

/// The members that every vector has.
struct VectorHead: Inlined, Equatable, Sendable {
    var topic = Topic.response
    /// The name, which is unique among all vectors and begins with the name of its file.
    @OneLine var name: String
    /// The rule, or the consequence of breaking it.
    @OneLine var why: String
    /// The section of an RFC or of the HTML Standard, or a CVE.
    @Reference var reference: String
    /// What is expected, as JSON, for people.
    var expectation = ""
    /// The right by which the vector judges other clients.
    var right: Right
    /// For an attack that is withstood by an error: the name of the vector that asks the same without harm. A
    /// client that fails it has withstood nothing.
    var twin: String?

    private enum CodingKeys: String, CodingKey { case name, why, reference, right, twin }
}

/// A text of one line that is not empty.
@propertyWrapper struct OneLine: FromJSON, Equatable, Sendable {
    var wrappedValue: String

    init(_ value: JSONValue) throws(FieldError) {
        wrappedValue = try value.text()
        guard !wrappedValue.isEmpty, !wrappedValue.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw value.fault("is not one line")
        }
    }
}

/// A section of an RFC or of the HTML Standard, or a CVE.
@propertyWrapper struct Reference: FromJSON, Equatable, Sendable {
    @OneLine var wrappedValue: String

    init(_ value: JSONValue) throws(FieldError) {
        _wrappedValue = try OneLine(value)
        guard ["RFC ", "HTML ", "CVE-"].contains(where: wrappedValue.hasPrefix) else {
            throw value.fault("begins with neither \"RFC \" nor \"HTML \" nor \"CVE-\"")
        }
    }
}

/// The vector of one topic.
protocol TopicVector: Decodable, Sendable {
    var head: VectorHead { get set }
}

/// References from a vector to other files.
struct Mentions {
    var certificates: [String] = []
    var servers: [String] = []
}
