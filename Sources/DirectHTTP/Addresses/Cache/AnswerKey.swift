/// A name, and a port if answers depend on it.
struct AnswerKey: Hashable {
    let host: DomainName
    /// 0 stands for any.
    let port: UInt16

    func hash(into hasher: inout Hasher) {
        var hash = FoldedHash()
        host.bytes.withSpan { hash.fold($0) }
        hash.fold(UInt64(port))
        hasher.combine(hash.value)
    }
}
