internal import DirectIO
internal import DirectTransport

/// The time limits of a single request. Each one replaces the client's limit of the same name; `nil` keeps
/// the client's.
public struct RequestTimeouts: Hashable, Sendable {
    /// A time limit that replaces the client's.
    public enum Limit: Hashable, Sendable {
        /// This limit.
        case after(Duration)
        /// No limit, whatever the client's is.
        case unlimited

        /// A limit in seconds.
        public static func seconds(_ seconds: some BinaryInteger) -> Limit { .after(.seconds(seconds)) }
        /// A limit in seconds and fractions of them. Infinity is no limit, nor is what is no number.
        public static func seconds(_ seconds: Double) -> Limit {
            // More than 10^20 seconds do not fit into a `Duration`.
            seconds < 1e20 ? .after(.seconds(max(seconds, -1e20))) : .unlimited
        }
        /// A limit in milliseconds.
        public static func milliseconds(_ milliseconds: some BinaryInteger) -> Limit {
            .after(.milliseconds(milliseconds))
        }

        /// Makes a limit; `nil` means no limit.
        public init(_ duration: Duration?) {
            self = duration.map { .after($0) } ?? .unlimited
        }

        /// The limit as a duration; `nil` if there is none.
        var duration: Duration? {
            if case .after(let duration) = self { duration } else { nil }
        }
    }

    /// The limits of the phases; see ``Timeouts``.
    public var queue, resolve, connect, tls, write, response, read, `continue`: Limit?
    /// The minimum speed of bodies; see ``Timeouts/minimumSpeed``. ``Timeouts/Speed/unlimited`` sets none.
    public var minimumSpeed: Timeouts.Speed?
    /// The limit of the whole call; see ``Timeouts/total``.
    public var total: Limit?

    /// Makes limits; `nil` keeps the client's.
    public init(
        queue: Limit? = nil,
        resolve: Limit? = nil,
        connect: Limit? = nil,
        tls: Limit? = nil,
        write: Limit? = nil,
        response: Limit? = nil,
        read: Limit? = nil,
        continue: Limit? = nil,
        minimumSpeed: Timeouts.Speed? = nil,
        total: Limit? = nil
    ) {
        self.queue = queue
        self.resolve = resolve
        self.connect = connect
        self.tls = tls
        self.write = write
        self.response = response
        self.read = read
        self.continue = `continue`
        self.minimumSpeed = minimumSpeed
        self.total = total
    }

    /// Makes limits that replace all of the client's: what is unlimited there is unlimited here.
    public init(_ timeouts: Timeouts) {
        for (own, clients) in Self.phases { self[keyPath: own] = Limit(timeouts[keyPath: clients]) }
        minimumSpeed = timeouts.minimumSpeed ?? .unlimited
    }
}

extension RequestTimeouts {
    fileprivate typealias Path<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

    /// Each limit of time, with the client's that it replaces.
    fileprivate static let phases: [(Path<RequestTimeouts, Limit?>, Path<Timeouts, Duration?>)] = [
        (\.queue, \.queue), (\.resolve, \.resolve), (\.connect, \.connect), (\.tls, \.tls),
        (\.write, \.write), (\.response, \.response), (\.read, \.read), (\.continue, \.continue),
        (\.total, \.total),
    ]

    /// Returns the limits with those of the other that are not set here.
    func inheriting(_ other: RequestTimeouts) -> RequestTimeouts {
        var limits = self
        for (path, _) in Self.phases { limits[keyPath: path] = self[keyPath: path] ?? other[keyPath: path] }
        limits.minimumSpeed = minimumSpeed ?? other.minimumSpeed
        return limits
    }

    /// Returns the limits of a call by a client with the limits `clients` and these threads.
    func over(_ clients: Timeouts, on threads: BlockingWork) -> Timeouts.Nanoseconds {
        clients.replaced(by: self).nanoseconds(on: threads)
    }
}

extension Timeouts {
    /// Returns the limits with those replaced that the request sets itself.
    func replaced(by own: RequestTimeouts) -> Timeouts {
        var limits = self
        for (path, clients) in RequestTimeouts.phases {
            if let limit = own[keyPath: path] { limits[keyPath: clients] = limit.duration }
        }
        limits.minimumSpeed = own.minimumSpeed ?? minimumSpeed
        return limits
    }
}
