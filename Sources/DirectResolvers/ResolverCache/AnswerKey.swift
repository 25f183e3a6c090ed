internal import DirectCore

/// The key of an answer in a cache: a name, and a port if answers depend on it.
struct AnswerKey: Hashable {
    let host: DomainName
    /// The port; 0 means any.
    let port: UInt16

    func hash(into hasher: inout Hasher) {
        var hash = FoldedHash()
        host.bytes.withSpan { hash.fold($0) }
        hash.fold(UInt64(port))
        hasher.combine(hash.value)
    }
}
