/// The result of one of the two handshakes, with and without SNI, that are compared.
enum SNISide: Hashable, Sendable {
    /// The certificate is valid for the host. The value is its hash.
    case matching([UInt8])
    /// The certificate is for other names. The value is its hash.
    case other([UInt8])
    /// The server refused the handshake.
    case refused
    /// The handshake was not made, or its failure says nothing about the name.
    case unknown

    /// Whether the certificate is valid for the host.
    var isMatching: Bool { if case .matching = self { true } else { false } }
}

extension SNIFinding.Verdict {
    /// Returns the verdict on the results of the handshake with SNI and the one without.
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
