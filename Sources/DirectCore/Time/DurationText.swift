extension Duration {
    /// The duration as people write it, with at most three digits: `100 µs`, `1.25 ms`, `30 s`, `10 min`.
    package var text: String {
        // The parts of the longest negative duration have no opposite.
        guard self >= .zero else { return "-" + (.zero - max(self, .seconds(-Int64.max))).text }
        let nanoseconds = clampedNanoseconds
        for (unit, name) in [(UInt64(1), "ns"), (1000, "µs"), (1_000_000, "ms"), (1_000_000_000, "s")] {
            // The last digit that counts is one of hundredths, tenths or whole units.
            guard nanoseconds < 100_000 * unit else { continue }
            let hundredths = nanoseconds * 100 / unit
            let step: UInt64 = hundredths < 1000 ? 1 : hundredths < 10_000 ? 10 : 100
            let rounded = (nanoseconds * 100 + unit * step / 2) / (unit * step) * step
            if rounded < 100_000, nanoseconds < 120_000_000_000 { return "\(decimal(rounded)) \(name)" }
        }
        let seconds = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
        if seconds == (seconds.0 / 60 * 60, 0) { return "\(seconds.0 / 60) min" }
        return "\(seconds.0 + (seconds.1 >= 500_000_000 ? 1 : 0)) s"
    }
}

/// Hundredths as a decimal without zeros at its end.
private func decimal(_ hundredths: UInt64) -> String {
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    if rest == 0 { return "\(whole)" }
    if rest % 10 == 0 { return "\(whole).\(rest / 10)" }
    return "\(whole).\(rest < 10 ? "0" : "")\(rest)"
}
