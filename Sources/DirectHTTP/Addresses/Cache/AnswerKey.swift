/// A name, and a port if answers depend on it.
struct AnswerKey: Hashable {
    let host: DomainName
    /// 0 stands for any.
    let port: UInt16

    func hash(into hasher: inout Hasher) {
        var hash = FoldedHash()
        hash.fold(host.bytes.span)
        hash.fold(UInt64(port))
        hasher.combine(hash.value)
    }
}
