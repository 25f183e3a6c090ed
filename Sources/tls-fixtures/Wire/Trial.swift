internal import DirectHTTP
internal import TLSFixtures

/// One way to show a vector to a client over a network: a job, and servers that are ready for it.
struct Trial {
    var job: Job
    /// Compares what the client reports, and what the servers saw, with the expectation.
    var differences: (_ outcome: JobOutcome, _ facts: ClientDescription) async -> [Difference]
}

/// A trial whose servers are not started yet.
struct TrialPlan {
    /// What distinguishes it from the other trials of the vector. Empty if it is the only one.
    var label = ""
    /// Whether it is only for this package's client, because it takes many connections.
    var isThorough = false
    /// The number of tries, of which the best counts. More than one for vectors that depend on time.
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
    /// Far from the serial numbers of the certificates in files, which have the same issuer.
    private let serial = Locked<UInt64>(1 << 40)

    /// Reads the authority from the folder with the certificates.
    init(certificates folder: String) throws(FixtureError) {
        rootFile = "\(folder)/root.pem"
        authority = try TestAuthority.load("root", from: folder)
    }

    /// Returns a certificate for these hosts.
    func certificate(for hosts: [String]) throws(FixtureError) -> FixtureCertificate {
        var profile = CertificateProfile(hosts.map { $0.isAddress ? .ip($0) : .dns($0) })
        profile.serial = serial.withLock { serial in
            serial += 1
            return serial
        }
        return try authority.issue(profile)
    }
}

/// The two servers to which all names of a vector lead: one with TLS and one without.
struct NamedServers {
    let plain: FixtureServer
    let secure: FixtureServer

    /// Starts servers whose behaviour depends on the scheme.
    init(
        hosts: [String],
        authority: WireAuthority,
        behaviour: (_ scheme: String) -> FixtureBehaviour
    ) throws {
        plain = try .start(.plain, behaviour: behaviour("http"))
        let certificate = try authority.certificate(for: hosts)
        secure = try .start(
            .tls(FixtureTLSSettings(certificates: [certificate])),
            behaviour: behaviour("https")
        )
    }

    /// The requests to both in the order in which they came.
    var requests: [RequestRecord] { (plain.requests + secure.requests).sorted { $0.order < $1.order } }

    /// The routes for URLs with these schemes, hosts and ports.
    func routes(_ places: [Place]) -> [Job.Route] {
        var routes: [Job.Route] = []
        for place in places {
            let server = place.scheme == "https" ? secure : plain
            let route = Job.Route(host: place.host, port: place.port, addresses: [server.authority])
            if !routes.contains(where: { $0.host == route.host && $0.port == route.port }) {
                routes.append(route)
            }
        }
        return routes
    }
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
