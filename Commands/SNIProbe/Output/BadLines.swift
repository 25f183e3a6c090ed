/// The lines of the input that could not be used. Only the first are reported each by itself.
struct BadLines {
    private(set) var count = 0

    private static let mostShown = 10

    mutating func add(_ error: UsageError) {
        count += 1
        if count <= Self.mostShown { Console.complain(error.text) }
    }

    /// Reports how many there were, if any.
    func report() {
        guard count > 0 else { return }
        let shown = count > Self.mostShown ? "; the first \(Self.mostShown) are shown above" : ""
        Console.complain(
            "sni-probe: \(Words.count(count, of: "line")) of the input could not be used\(shown)\n"
        )
    }
}
