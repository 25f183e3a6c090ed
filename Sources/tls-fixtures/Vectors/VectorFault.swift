/// What is wrong with a vector, and where it stands.
struct VectorFault: Error, Equatable, CustomStringConvertible {
    var file: String
    var line: Int?
    /// The vector's name, if it has one.
    var vector: String?
    var what: String

    var description: String {
        var text = file
        if let line { text += ":\(line)" }
        if let vector { text += ": \(vector)" }
        return text + ": " + what
    }
}

/// All that is wrong with a folder of vectors: nothing of it is to be run.
struct VectorFaults: Error, CustomStringConvertible {
    var faults: [VectorFault]

    var description: String { faults.map(\.description).joined(separator: "\n") }
}
