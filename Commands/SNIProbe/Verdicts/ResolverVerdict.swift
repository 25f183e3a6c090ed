internal import DirectHTTP

extension ProbeRecord {
    /// Adds to the hint of a failed record whose users get its address, if others give addresses but not this
    /// one.
    mutating func nameUsers() {
        guard let givers = ReportEntry(self).partialGivers, let fault = faults.first else { return }
        let who: HintText = "nly users of \(Words.all(givers)) get \(.ip)"
        let words = hint.map { $0.words + ". O" + who } ?? "o" + who
        hint = Hint(kind: fault.id, words: words, place: hintPlace)
    }
}
