import Foundation

/// Measures what dialling and resolvers cost (scripts/verify/dialling), and reads mutated messages.
///
///     dialling messages|map|cache|waiters|failover|flip COUNT
///     dialling mutated COUNT [SEED]
@main
enum DiallingCosts {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        let numbers = words.dropFirst().compactMap { UInt64($0) }
        do {
            guard let kind = words.first, let count = numbers.first.map({ Int(clamping: $0) }) else {
                throw MeasureError("usage: dialling messages|map|cache|waiters|failover|flip|mutated COUNT")
            }
            if kind == "mutated" { return mutateMessages(count, seed: numbers.dropFirst().first ?? 1) }
            try await measure(kind, count: count)
        } catch {
            fail("\(error)")
        }
    }

    /// Ends the run: a limit is missed, or it gives no figures.
    static func fail(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("dialling: \(reason)\n".utf8))
        exit(1)
    }
}

/// The figures cannot be measured.
struct MeasureError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
