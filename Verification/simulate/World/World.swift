internal import CSimulation
internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// What a run of a world has shown.
struct Verdict {
    /// The faults, each with its judge: "judge: what was wrong".
    var faults: [String]
    let hash: UInt64
    let steps: Int
    let counts: [String: Int]
    /// The number of connections that the client has opened.
    let connections: Int
    /// The readable trace, if it was wanted.
    let trace: [String]
    /// The virtual time that passed, in nanoseconds.
    let time: UInt64

    /// The judges that have found a fault.
    var judges: Set<String> { Set(faults.map { String($0.prefix { $0 != ":" }) }) }
}

/// A world that runs: the client under test, its callers, its servers and the judges, on one thread.
///
/// `@unchecked Sendable` is safe because nothing of it leaves that thread.
final class World: @unchecked Sendable {
    let plan: Plan
    let kernel: Kernel
    let loop: EventLoop
    private(set) var faults: [String] = []
    /// What is seen of programs behind a proxy of their machine.
    let tunnels: TunnelLedger
    /// The proxy's check of logins.
    private(set) var proxyGate: DigestGate?
    private(set) var settings: SettingsFiles?
    /// What is known of each call.
    var calls: [CallState]
    /// The open connections of each host's servers that have had a request.
    var served: [[SimulatedConnection]]
    /// All connections that a server has accepted, by host, for the addresses that die.
    var accepted: [[SimulatedConnection]]
    /// What servers have said of the versions of files.
    var announced: [Int: [Announced]] = [:]
    /// The files that have got their names.
    var renamed: [String: [[UInt8]]] = [:]
    /// The checks of logins, by host, and since when the client knows that a host wants TLS only.
    var gates: [Int: DigestGate] = [:]
    var strictSince: [Policy: (learned: UInt64, known: UInt64)] = [:]
    /// When a server first sent such a policy in a run of a program.
    var sentPolicies: [Policy: UInt64] = [:]
    /// The runs of a program that keeps files, the states of its files, and the cookies of servers.
    var runs: [ProgramRun] = []
    var savedStates: [String: [SavedState]] = [:]
    var setCookies: [SetCookie] = []
    /// The cache in memory, and the cookies of its users.
    private(set) lazy var cache = try? ResponseCache(clock: { [loop] in loop.date })
    private var jars: [String: CookieJar] = [:]
    /// When servers have last confirmed a response, by its call and its reply.
    var confirmed: [Int: UInt64] = [:]
    /// What resolvers have answered, how many questions each server has had, and when each was last asked.
    var givenAnswers: [GivenAnswer] = []
    var resolverQuestions: [IPAddress?: Int] = [:]
    var lastQuestions: [String: (time: UInt64, run: Int)] = [:]
    /// When a resolver's server has not answered as it should.
    var badAnswers: [UInt64] = []
    /// How many questions for the servers of its service each resolver's server has had, and when each
    /// service was last answered one.
    var listQuestions: [IPAddress?: Int] = [:]
    var listAnswers: [Int: UInt64] = [:]
    /// The hosts that were dialled at the port of their record.
    var recordPorts: Set<Int> = []
    /// The questions that came in datagrams, by socket, and those that were answered with a truncated one.
    var datagramQuestions: [Int: DatagramQuestion] = [:]
    var truncatedQuestions: [[UInt8]: ResolverPlan.Manner] = [:]

    /// When the client last sent something on a connection, by its number.
    var lastSends: [Int: UInt64] = [:]
    /// The jars that keep few cookies.
    var smallJars: [CookieJar] = []
    /// The calls whose bodies, which can be had once only, have been asked for.
    var begunUploads: Set<Int> = []

    /// What the servers and the caller have seen of a call.
    struct CallState {
        /// The number of its requests that have arrived at a server.
        var requests = 0
        /// The replies whose POST requests were received whole, in order.
        var executedPosts: [Int] = []
        /// The number of bytes of the upload that the server of each reply has received.
        var received: [Int: Int] = [:]
        /// The replies where the client had been released, and its connections closed, before the server had
        /// read all: what then arrives from the server is answered with a reset, which destroys what the
        /// server has not read yet.
        var excusedUploads: Set<Int> = []
        /// The requests that have arrived, and how they were answered.
        var tries: [Try] = []
        /// When the server began to send the last body, and when it had sent it or given it up.
        var bodyBegin: UInt64 = 0
        var bodyEnd: UInt64 = 0
        /// When the server stopped in the middle of a response.
        var stalled: UInt64?
        /// When the call began, and when it ended.
        var start: UInt64?
        /// When it began to ask for the last page.
        var pageStart: UInt64?
        var end: UInt64?
        /// Whether the caller has a response that a cache may keep, and when it had it.
        var cacheable: UInt64?
        /// Whether a request of it has arrived at another origin than the first.
        var hasCrossed = false
        var mayHaveMissedCrossing = false
        /// The error that the call ended with.
        var error: (any Error)?
        var isOver = false
        var outcome = ""
        /// When its task was cancelled.
        var cancelled: UInt64?
        /// The bytes that a slow reader got after the deadline, and its pauses that ended after it.
        var lateBytes = 0
        var latePauses = 0
        /// The reply that the caller got, and read whole; `nil` if the call failed.
        var reply: Int?
        /// What a download has told its caller last, and what it can continue when it begins.
        var progress: Int?
        var saved: (bytes: Int, isWhole: Bool)?
        /// The requests that have arrived, and whether two of them were under way at a time.
        var underWay: [RequestUnderWay] = []
        /// The connections on which requests have arrived, challenged ones too, and when.
        var arrivals: [(connection: SimulatedConnection, time: UInt64)] = []
        /// The connections on which requests have arrived.
        var used: [SimulatedConnection] = []
        var isHedged = false
        /// The number of bytes of each reply's body that a server has sent, and that the caller knows of.
        var sentBodies: [Int: Int] = [:]
        /// The lines of fields that servers have sent with each reply, whenever they sent it.
        var sentFields: [Int: [[String]]] = [:]
        var told: (download: Int?, upload: Int?)
        /// Whether a request of it has arrived at another host than the first.
        var hasLeft = false
    }

    /// The clients of the world's programs, for as long as anything refers to them.
    private(set) var clients: [ClientReference] = []

    struct ClientReference {
        weak var state: AnyObject?
    }

    /// The number of calls under way, and the largest so far.
    var activeCalls = 0 { didSet { mostActiveCalls = max(mostActiveCalls, activeCalls) } }
    private(set) var mostActiveCalls = 0

    init(_ plan: Plan, isTraced: Bool = false) {
        self.plan = plan
        tunnels = TunnelLedger(count: plan.tunnels?.programs.count ?? 0)
        kernel = Kernel(
            seed: plan.seed,
            network: plan.network,
            disk: plan.disk ?? DiskPlan(),
            plan: plan.kernel ?? KernelPlan(),
            isTraced: isTraced
        )
        Kernel.current = kernel
        kernel.isFair = plan.network.byteCost > 0 && plan.calls.contains(where: \.isFlooded)
        sim_enter(1)
        loop = EventLoop(isDriven: ())
        calls = Array(repeating: CallState(), count: plan.calls.count)
        served = Array(repeating: [], count: plan.hosts.count)
        accepted = Array(repeating: [], count: plan.hosts.count)
        settings = plan.settings.map { SettingsFiles($0, kernel) }
        proxyGate = plan.peers?.login.map { DigestGate(self, $0) }
    }

    func fault(_ judge: String, _ words: @autoclosure () -> String) {
        let text = "\(judge): \(words())"
        kernel.explain("FAULT \(text)")
        faults.append(text)
    }

    /// Returns the jar of the user whom a call is made for.
    func jar(ofCall number: Int) -> CookieJar {
        let sender = plan.sender(ofCall: number)
        if let jar = jars[sender] { return jar }
        let jar = CookieJar()
        jars[sender] = jar
        return jar
    }

    /// Makes a client, which has to be gone at the end.
    func newClient(_ configuration: HTTPClient.Configuration) -> HTTPClient {
        let client = HTTPClient(configuration)
        clients.append(ClientReference(state: client.identity))
        return client
    }

    /// Watches a proxy, which has to be gone as well.
    func watch(_ proxy: AnyObject) { clients.append(ClientReference(state: proxy)) }
}
