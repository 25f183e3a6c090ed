/// An error in a vector file, with its position.
struct VectorError: Error, Equatable, CustomStringConvertible {
    var file: String
    var line: Int?
    /// The name of the vector, if it has one.
    var vector: String?
    var what: String

    var description: String {
        var text = file
        if let line { text += ":\(line)" }
        if let vector { text += ": \(vector)" }
        return text + ": " + what
    }
}

/// All errors in a folder of vectors. If there is any, no vector is run.
struct VectorFaults: Error, CustomStringConvertible {
    var faults: [VectorError]

    var description: String { faults.map(\.description).joined(separator: "\n") }
}
