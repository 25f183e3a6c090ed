internal import DirectHTTP
internal import TLSFixtures

/// One way to show a vector to a client over a network: a job, and servers that are ready for it.
struct Trial {
    var job: Job
    /// Makes a job that takes the time of the machine and the client, and none of what the vector is about,
    /// for vectors about time. It is made and run before the job when that is tried again, and told how long
    /// it took.
    var control: (() throws -> (job: Job, took: (Duration) -> Void))?
    /// Why a client that reports this is not judged. `nil` if it is.
    var reasonToLeave: (JobOutcome) -> String? = { _ in nil }
    /// Compares what the client reports, and what the servers saw, with the expectation.
    var differences: (_ outcome: JobOutcome, _ facts: ClientDescription) async -> [Difference]
}

extension Trial {
    /// A trial with these servers, which are there until it ends. No request to them may be malformed.
    init(
        job: Job,
        on servers: NamedServers,
        differences: @escaping (_ outcome: JobOutcome, _ facts: ClientDescription) -> [Difference]
    ) {
        self.init(job: job) { outcome, facts in
            differences(outcome, facts) + servers.requests.flatMap(\.malformations)
        }
    }
}

extension RequestRecord {
    /// What no request may have. Servers pass over line ends before a head.
    var malformations: [Difference] {
        SentHead(Array(head.drop { $0 == 13 || $0 == 10 })).malformations()
    }
}

/// A trial whose servers are not started yet.
struct TrialPlan {
    /// What distinguishes it from the other trials of the vector. Empty if it is the only one.
    var label = ""
    /// Whether it is only for this package's client, because it takes many connections.
    var isThorough = false
    /// Why other clients are not judged by it. `nil` if they are.
    var reasonToSpareOthers: String?
    /// The number of tries, until one passes. More than one for vectors that depend on time: other load may
    /// have made a try fail, and nothing makes one pass that should not.
    var chances = 1
    var start: () throws -> Trial
}

/// The trials of a vector.
enum Trials {
    case plans([TrialPlan])
    /// The vector cannot be shown to a client over a network, for this reason.
    case unsuitable(String)
}

/// Issues certificates for the names in vectors, below the root that clients trust.
final class WireAuthority: Sendable {
    /// The path of a PEM file with the root.
    let rootFile: String
    private let authority: TestAuthority

    /// Reads the authority from the folder with the certificates.
    init(certificates folder: String) throws(FixtureError) {
        rootFile = "\(folder)/root.pem"
        authority = try TestAuthority.load("root", from: folder)
    }

    /// Returns a certificate for these hosts.
    func certificate(for hosts: [String]) throws(FixtureError) -> FixtureCertificate {
        try authority.issue(CertificateProfile(hosts.map { $0.isAddress ? .ip($0) : .dns($0) }))
    }
}

/// The servers to which all names of a vector lead: one for each scheme of its URLs.
struct NamedServers {
    private let servers: [String: FixtureServer]
    /// The routes for the URLs.
    let routes: [Job.Route]

    /// Starts servers whose behaviour depends on the scheme.
    ///
    /// - Parameter places: Where the URLs of the vector lead.
    init(
        _ places: [Place],
        authority: WireAuthority,
        behaviour: (_ scheme: String) -> FixtureBehaviour
    ) throws {
        var servers: [String: FixtureServer] = [:]
        var routes: [Job.Route] = []
        for place in places {
            let server: FixtureServer
            if let started = servers[place.scheme] {
                server = started
            } else {
                let hosts = Set(places.filter { $0.scheme == place.scheme }.map(\.host)).sorted()
                let security = try Self.security(place.scheme, hosts: hosts, authority: authority)
                server = try .start(security, behaviour: behaviour(place.scheme))
                servers[place.scheme] = server
            }
            let route = Job.Route(host: place.host, port: place.port, addresses: [server.authority])
            if !routes.contains(where: { $0.host == route.host && $0.port == route.port }) {
                routes.append(route)
            }
        }
        (self.servers, self.routes) = (servers, routes)
    }

    private static func security(
        _ scheme: String,
        hosts: [String],
        authority: WireAuthority
    ) throws -> FixtureSecurity {
        guard scheme == "https" else { return .plain }
        return .tls(FixtureTLSSettings(certificates: [try authority.certificate(for: hosts)]))
    }

    /// The schemes for which there is a server.
    var schemes: [String] { servers.keys.sorted() }

    /// The requests to all of them in the order in which they came.
    var requests: [RequestRecord] { servers.values.flatMap(\.requests).sorted { $0.order < $1.order } }

    /// The records of the connections to the server of this scheme.
    func records(_ scheme: String) -> [ConnectionRecord] { servers[scheme]?.records ?? [] }
}

/// The part of a URL that says where to connect.
struct Place: Hashable {
    var scheme: String
    /// The host without brackets.
    var host: String
    var port: UInt16

    init(scheme: String, host: String, port: UInt16) {
        (self.scheme, self.host, self.port) = (scheme, host, port)
    }

    /// The place of an absolute URL. `nil` if it is not a valid one.
    init?(url text: String) {
        guard let url = try? HTTPURL(text) else { return nil }
        let host = url.host.address.map { "\($0)" } ?? "\(url.host)"
        self.init(scheme: url.scheme.rawValue, host: host, port: url.port)
    }

    /// The place of an authority of `http`. `nil` if it is not a valid one.
    init?(authority: [UInt8]) {
        self.init(url: "http://\(authority.latin1)/")
    }
}
