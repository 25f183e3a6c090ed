internal import DirectIO

/// A dictionary's key for a host, at a fraction of the standard hash.
struct HostKey: Hashable {
    private let host: Host
    private let foldedHash: UInt64

    init(_ host: Host) {
        self.host = host
        var hash = FoldedHash()
        switch host {
        case .name(let name):
            hash.fold(name.bytes.span)
        case .address(let address):
            hash.fold(address.words.high)
            hash.fold(address.words.low)
        }
        foldedHash = hash.value
    }

    static func == (left: HostKey, right: HostKey) -> Bool {
        left.foldedHash == right.foldedHash && left.host == right.host
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(foldedHash)
    }
}

extension DomainName {
    /// Calls for `b.c` and `c` where the name is `a.b.c`.
    func forEachNameAbove(_ body: (DomainName) -> Void) {
        for index in bytes.indices where bytes[index] == UInt8(ascii: ".") {
            body(DomainName(checked: Array(bytes[(index + 1)...])))
        }
    }
}
