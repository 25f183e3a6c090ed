/// One side of the comparison that tells what a server makes of the name.
enum SNISide: Hashable, Sendable {
    /// A certificate for the host, told apart by its hash.
    case matching([UInt8])
    /// A certificate for somebody else.
    case other([UInt8])
    /// The handshake was refused.
    case refused
    /// Nothing was seen, or nothing that tells.
    case unknown
}

extension SNIFinding.Verdict {
    /// What the handshake with the name and the one without say together.
    init(with: SNISide, without: SNISide) {
        self =
            switch (with, without) {
            case (.matching(let one), .matching(let other)):
                one == other ? .noDifference : .changesCertificate
            case (.matching, .other): .needed
            case (.matching, .refused): .neededStrict
            case (.other(let one), .other(let other)): one == other ? .noDifference : .selectsWrong
            case (.other, .matching), (.other, .refused): .selectsWrong
            case (.refused, .refused): .noDifference
            case (.refused, .matching), (.refused, .other): .refused
            case (.unknown, _), (_, .unknown): .unknown
            }
    }
}
