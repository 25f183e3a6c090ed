internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// The servers of a service, in the order in which they are tried, and the time of the next request for the
/// list.
///
/// The servers that the caller gave are the first ones. If the service names others, those come before them;
/// the given ones remain at the end of the list, as the way back.
struct ServerList: Sendable {
    /// A server, and the list in which its index stands: outcomes that come late must not count for another
    /// server.
    struct Choice: Sendable {
        let endpoint: Endpoint
        fileprivate let index: Int
        fileprivate let version: Int
    }

    private let given: [Endpoint]
    private(set) var endpoints: [Endpoint]
    private var rotation: ServerRotation
    private let badTime: UInt64
    /// The time between two updates; `nil` if the servers stay as they are.
    private let interval: UInt64?
    private var version = 0
    /// The time of the next update.
    private var due = Instant(nanoseconds: 0)
    /// The earliest time of the next update, whatever happens.
    private var earliest = Instant(nanoseconds: 0)
    /// Whether an update is in progress.
    private var isUpdating = false

    init(_ given: [Endpoint], badTime: UInt64, updatedEvery interval: UInt64?) {
        self.given = given
        endpoints = given
        self.badTime = badTime
        self.interval = interval
        rotation = ServerRotation(count: given.count, badTime: badTime)
    }

    /// Returns all servers, the best first.
    func order(at now: Instant) -> [Choice] {
        rotation.order(at: now).map { Choice(endpoint: endpoints[$0], index: $0, version: version) }
    }

    /// Returns the server that a question is asked of next, the best as of now; `nil` if none is left. The
    /// last of several attempts is for a server that the caller gave, unless one of those was tried: a list
    /// that the service named may be dead.
    ///
    /// - Parameters:
    ///   - tried: The servers that have failed to answer the question.
    ///   - attempts: The number of attempts that are left.
    func next(at now: Instant, after tried: [Endpoint], attempts: Int) -> Choice? {
        let rest = order(at: now).filter { !tried.contains($0.endpoint) }
        let isGiven = { (server: Endpoint) in given.contains(server) }
        guard attempts == 1, !tried.isEmpty, !tried.contains(where: isGiven) else { return rest.first }
        return rest.first { isGiven($0.endpoint) } ?? rest.first
    }

    mutating func noteSuccess(of server: Choice) {
        guard server.version == version else { return }
        rotation.noteSuccess(of: server.index)
    }

    /// Notes that a server has failed otherwise than by silence.
    mutating func recordFailure(of server: Choice, at now: Instant) {
        guard server.version == version else { return }
        rotation.recordFailure(of: server.index, at: now)
    }

    /// Notes that a server was asked at `start`, and has been silent.
    mutating func noteSilence(of server: Choice, since start: Instant, at now: Instant) {
        guard server.version == version else { return }
        rotation.noteSilence(of: server.index, since: start, at: now)
    }

    /// Returns to the given servers, and forgets which servers failed.
    mutating func forgetAll() {
        replace(with: given)
        due = Instant(nanoseconds: 0)
        isUpdating = false
    }

    /// Notes that no server has answered a question: others may be in charge now.
    mutating func recordFailureOfAll(at now: Instant) { due = min(due, max(now, earliest)) }

    /// Begins an update of the list if it is time for one. Returns the version that it begins with, or `nil`.
    mutating func beginUpdate(at now: Instant) -> Int? {
        guard interval != nil, !isUpdating, now >= due else { return nil }
        isUpdating = true
        return version
    }

    /// Ends an update.
    ///
    /// - Parameter addresses: What the service named; `nil` if it could not be asked.
    mutating func endUpdate(_ addresses: [IPAddress]?, from version: Int, at now: Instant) {
        // The list was reset meanwhile: the answer belongs to another network.
        guard version == self.version, let interval else { return }
        isUpdating = false
        earliest = now.advanced(byNanoseconds: min(interval, Self.shortestInterval))
        guard let addresses, !addresses.isEmpty else {
            due = earliest
            return
        }
        due = now.advanced(byNanoseconds: interval)
        var servers: [Endpoint] = []
        for address in addresses.prefix(Self.mostServers) {
            let server = Endpoint(address, port: given.first?.port)
            if !servers.contains(server) { servers.append(server) }
        }
        replace(with: servers + given.filter { !servers.contains($0) })
    }

    private mutating func replace(with servers: [Endpoint]) {
        version += 1
        endpoints = servers
        rotation = ServerRotation(count: servers.count, badTime: badTime)
    }

    /// The shortest time between two updates.
    private static let shortestInterval: UInt64 = 60_000_000_000
    /// The longest list that is taken from a service.
    private static let mostServers = 16
}
