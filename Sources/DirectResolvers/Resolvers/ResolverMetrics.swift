internal import DirectCore
public import DirectHTTP

/// Counts the questions to resolvers and their outcomes, by the resolver's name.
///
///     let metrics = ResolverMetrics() let resolver =
///     CachingResolver(ChainResolver(metrics.observing(httpdns), metrics.observing(SystemResolver())))
///     print(metrics.counts)
public final class ResolverMetrics: Sendable {
    /// The questions to one resolver, since the metrics were made.
    public struct Counts: Hashable, Sendable {
        /// Questions that were answered with addresses.
        public internal(set) var answered = 0
        /// Those of them that a cache answered, with a valid or a stale answer.
        public internal(set) var cached = 0
        /// Questions with the answer that the name does not exist or has no address.
        public internal(set) var denied = 0
        /// Questions that the resolver failed to answer.
        public internal(set) var failed = 0
        /// Questions that were cancelled.
        public internal(set) var cancelled = 0
        /// The time of all answers that no cache had, together.
        public internal(set) var answerTime: Duration = .zero
        /// The longest time of such an answer.
        public internal(set) var longestAnswerTime: Duration = .zero

        /// All questions that have ended.
        public var total: Int { answered + denied + failed + cancelled }

        /// The mean time of an answer that no cache had; `nil` if there was none.
        public var meanAnswerTime: Duration? {
            answered > cached ? answerTime / (answered - cached) : nil
        }
    }

    private let table = Locked<[String: Counts]>([:])

    /// Makes metrics without any counts.
    public init() {}

    /// Returns a resolver that asks this one, and is counted under its name.
    public func observing(_ resolver: any Resolver) -> ObservedResolver {
        ObservedResolver(resolver, observer: observer)
    }

    /// Counts the events that it is given.
    public var observer: ResolverObserver {
        { [self] event in table.withLock { $0[event.resolver, default: Counts()].add(event) } }
    }

    /// The counts of each resolver, by its name.
    public var counts: [String: Counts] { table.withLock { $0 } }
}

extension ResolverMetrics.Counts {
    mutating func add(_ event: ResolverEvent) {
        switch event.outcome {
        case .answered(_, let source):
            answered += 1
            guard source.freshness == .fresh else {
                cached += 1
                return
            }
            answerTime += event.duration
            longestAnswerTime = max(longestAnswerTime, event.duration)
        case .failed(let error):
            if error.isDenial { denied += 1 } else { failed += 1 }
        case .cancelled: cancelled += 1
        }
    }
}

extension ResolverError {
    /// Whether it says that there is no address, rather than that the resolver failed.
    fileprivate var isDenial: Bool {
        switch reason {
        case .noSuchName, .noAddresses, .notListed: true
        case .lookup(let error): error.saysNone
        default: false
        }
    }
}
