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
        /// The number of results that the certificate is no fault of, and the first three of their addresses.
        var accepted = 0
        var addresses: [String] = []
        /// The place in the order of arrival.
        fileprivate let order: Int
    }

    private var rows: [String: Row] = [:]
    /// The place in the order from which on certificates are not taken; `nil` until the list was full.
    private var limit: Place?
    private let most: Int

    init(most: Int) {
        self.most = most
    }

    /// The number of results whose certificates are missing.
    private(set) var omitted = 0
    private var arrived = 0

    /// Whether certificates are missing.
    var isCut: Bool { limit != nil }

    /// The rows of certificates that are no fault, the most frequent first.
    var accepted: [Row] {
        rows.values.filter { $0.accepted > 0 }.sorted { ($1.accepted, $0.order) < ($0.accepted, $1.order) }
    }

    /// The rows, the first to end first.
    var sorted: [Row] {
        rows.values.sorted { Place($0.certificate) < Place($1.certificate) }
    }

    mutating func add(_ certificate: ReportEntry.Certificate, of entry: ReportEntry) {
        if let limit, !(Place(certificate) < limit) { return omitted += 1 }
        arrived += 1
        var row = rows[certificate.hash] ?? Row(certificate: certificate, host: entry.host, order: arrived)
        row.count += 1
        if entry.acceptsCertificate {
            row.accepted += 1
            if row.addresses.count < 3, let ip = entry.ip { row.addresses.append(ip) }
        }
        rows[certificate.hash] = row
        guard rows.count > most, let last = rows.values.map({ Place($0.certificate) }).max() else { return }
        omitted += rows.removeValue(forKey: last.hash)?.count ?? 0
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

extension ReportEntry.Certificate {
    /// The distance to its end, in words.
    func left(at now: Int) -> String {
        guard let notAfter else { return "unknown" }
        if let notBefore, notBefore > now { return "not valid yet" }
        let days = Words.days(abs(notAfter - now) / 86_400)
        return notAfter < now ? "ended \(days) ago" : days
    }
}

extension ReportEntry {
    /// Whether the certificate is good in itself, whatever an option asks of it besides.
    fileprivate var acceptsCertificate: Bool {
        let own = [Fault.ID.differs, .tooFewDays, .statusEnds, .strict].map(\.rawValue)
        return faults.allSatisfy { own.contains($0.id) }
    }
}
