/// A client that the vectors are run against.
protocol VectorClient: Sendable {
    /// Its name, its version and its abilities.
    var facts: ClientDescription { get }
    /// Whether this is the package's own client in this process. Only that one also runs the vectors of bytes
    /// without a network.
    var isOurs: Bool { get }
    /// The number of jobs that it runs at the same time.
    var width: Int { get }
    /// Does one job.
    func run(_ job: Job) async -> JobOutcome
}

extension VectorClient {
    /// The name in reports.
    var title: String { facts.name }
    var isOurs: Bool { false }
}
