internal import DirectCore
internal import DirectHTTP

extension Resolution {
    /// Adds HTTPS records of the name. Their endpoints come before those that the answer has.
    ///
    /// - Parameter isReliant: Whether the name may be reached by its records only: each record that it has,
    ///   those without a known address too, has configurations for Encrypted Client Hello (RFC 9848, section
    ///   5).
    mutating func add(_ records: HTTPSRecords, isReliant: Bool) {
        endpoints = (records.records.flatMap(\.endpoints) + (isReliant ? [] : endpoints)).withoutRepeats
        https = records
    }

    /// Adds the records of an earlier answer. Those of the name itself describe its addresses of now, those
    /// of other names keep their own.
    mutating func add(_ records: HTTPSRecords, of host: DomainName, from earlier: [Endpoint]) {
        let described = Set(records.records.flatMap(\.endpoints))
        let isReliant = records.records.allHaveConfigurations && described.isSuperset(of: earlier)
        var records = records
        for (index, record) in records.records.enumerated()
        where record.target == host || record.target == canonicalName {
            // A record without endpoints is about all of them.
            guard !record.endpoints.isEmpty else { continue }
            records.records[index].endpoints = endpoints.map {
                Endpoint($0.address, port: record.port ?? $0.port)
            }
        }
        add(records, isReliant: isReliant)
    }
}

extension [HTTPSRecord] {
    /// Whether there are records, and each has configurations for Encrypted Client Hello.
    var allHaveConfigurations: Bool { !isEmpty && allSatisfy { $0.encryptedClientHello != nil } }
}

extension Array where Element: Hashable {
    /// Each element at its first place only.
    var withoutRepeats: [Element] {
        var known: Set<Element> = []
        return filter { known.insert($0).inserted }
    }
}
