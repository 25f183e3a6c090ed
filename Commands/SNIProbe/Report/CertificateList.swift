/// The certificates of a run that end first, each with the number of results that show it.
///
/// The list is bounded: when it is full, the certificate that ends last leaves it. From then on later ones
/// are not taken, so a certificate that has left never returns, and the counts of those in the list are
/// exact.
struct CertificateList {
    struct Row {
        let certificate: ReportEntry.Certificate
        /// The first host that served it.
        let host: String
        var count = 0
    }

    private var rows: [String: Row] = [:]
    /// The place in the order from which on certificates are not taken; `nil` until the list was full.
    private var limit: Place?
    private let most: Int

    init(most: Int) {
        self.most = most
    }

    /// Whether certificates are missing.
    var isCut: Bool { limit != nil }

    /// The rows, the first to end first.
    var sorted: [Row] {
        rows.values.sorted { Place($0.certificate) < Place($1.certificate) }
    }

    mutating func add(_ certificate: ReportEntry.Certificate, of host: String) {
        if let limit, !(Place(certificate) < limit) { return }
        rows[certificate.hash, default: Row(certificate: certificate, host: host)].count += 1
        guard rows.count > most, let last = rows.values.map({ Place($0.certificate) }).max() else { return }
        rows[last.hash] = nil
        limit = last
    }

    private struct Place: Comparable {
        let end: Int
        let hash: String

        init(_ certificate: ReportEntry.Certificate) {
            end = certificate.notAfter ?? .max
            hash = certificate.hash
        }

        static func < (one: Place, other: Place) -> Bool { (one.end, one.hash) < (other.end, other.hash) }
    }
}
