public import DirectCore

/// A way to reach an origin, as one of its HTTPS records describes it (RFC 9460).
///
/// It says which addresses to dial and how. What the server has to prove stays the name in the URL.
public struct HTTPSRecord: Hashable, Sendable {
    /// The order among the records of an answer: the lowest comes first. 0 is the name that an alias leads
    /// to, without any parameters.
    public var priority: UInt16
    /// The name whose addresses are dialled. It is never the server's name: not in SNI, not in `Host`, not
    /// for the certificate.
    public var target: DomainName
    /// The port that is dialled; `nil` is the port of the URL.
    public var port: UInt16?
    /// The ALPN protocols of the server, `http/1.1` among them.
    public var protocols: [String] = ["http/1.1"]
    /// The addresses of the target that the record itself names. They count only as long as no others are
    /// known.
    public var hints: [IPAddress] = []
    /// The configurations for Encrypted Client Hello (RFC 9848); `nil` if there are none.
    public var encryptedClientHello: ECHConfigList?
    /// The endpoints of the answer that the record describes, in order. Empty if they came from another
    /// source, such as a static map: then the record is about all of them.
    public var endpoints: [Endpoint] = []

    /// Creates a record without parameters.
    public init(_ target: DomainName, priority: UInt16 = 1, port: UInt16? = nil) {
        self.target = target
        self.priority = priority
        self.port = port
    }
}

/// A resolver's knowledge of the HTTPS records of an origin.
public struct HTTPSRecords: Hashable, Sendable {
    /// The records that this client can use, in order of preference. Empty if the origin has none of them.
    public var records: [HTTPSRecord]
    /// The time for which that is valid; `nil` if the resolver does not know.
    public var timeToLive: Duration?

    /// Creates the records of an origin.
    public init(_ records: [HTTPSRecord], timeToLive: Duration? = nil) {
        self.records = records
        self.timeToLive = timeToLive
    }

    /// Returns the record that describes an endpoint of the answer: the first that names it, or that names
    /// no endpoints. `nil` if the endpoint has no record.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint that is dialled.
    ///   - port: The port of the URL, for endpoints without one.
    public func record(for endpoint: Endpoint, port: UInt16) -> HTTPSRecord? {
        records.first { record in
            record.endpoints.isEmpty
                || record.endpoints.contains {
                    $0.address == endpoint.address && ($0.port ?? port) == (endpoint.port ?? port)
                }
        }
    }
}
