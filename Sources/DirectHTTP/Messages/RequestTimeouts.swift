/// The limits of time that a request has of its own. Each takes the place of the client's limit of that name; where it
/// is `nil` the client's limit holds.
public struct RequestTimeouts: Hashable, Sendable {
    /// A limit in place of the client's.
    public enum Limit: Hashable, Sendable {
        case after(Duration)
        /// As long as it takes, whatever the client's limit is.
        case unlimited

        public static func seconds(_ seconds: some BinaryInteger) -> Limit { .after(.seconds(seconds)) }
        public static func seconds(_ seconds: Double) -> Limit { .after(.seconds(seconds)) }
        public static func milliseconds(_ milliseconds: some BinaryInteger) -> Limit {
            .after(.milliseconds(milliseconds))
        }

        /// The limit, or none at all where there is none.
        public init(_ duration: Duration?) {
            self = duration.map { .after($0) } ?? .unlimited
        }

        var duration: Duration? {
            if case .after(let duration) = self { duration } else { nil }
        }
    }

    /// A least speed in place of the client's.
    public enum Speed: Hashable, Sendable {
        case atLeast(Timeouts.Speed)
        /// As slow as it is, whatever the client asks for.
        case unlimited

        var speed: Timeouts.Speed? {
            if case .atLeast(let speed) = self { speed } else { nil }
        }
    }

    /// See `Timeouts`, whose limits have these names.
    public var queue, resolve, connect, tls, write, response, read, `continue`: Limit?
    public var minimumSpeed: Speed?
    public var total: Limit?

    public init(
        queue: Limit? = nil,
        resolve: Limit? = nil,
        connect: Limit? = nil,
        tls: Limit? = nil,
        write: Limit? = nil,
        response: Limit? = nil,
        read: Limit? = nil,
        continue: Limit? = nil,
        minimumSpeed: Speed? = nil,
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

    /// All of these limits, whatever the client's are: what has none there has none here.
    public init(_ timeouts: Timeouts) {
        self.init(
            queue: Limit(timeouts.queue),
            resolve: Limit(timeouts.resolve),
            connect: Limit(timeouts.connect),
            tls: Limit(timeouts.tls),
            write: Limit(timeouts.write),
            response: Limit(timeouts.response),
            read: Limit(timeouts.read),
            continue: Limit(timeouts.continue),
            minimumSpeed: timeouts.minimumSpeed.map { .atLeast($0) } ?? .unlimited,
            total: Limit(timeouts.total)
        )
    }
}

extension RequestTimeouts {
    /// The limits of a call by a client with those.
    func over(_ clients: Timeouts) -> Timeouts.Nanoseconds {
        clients.replaced(by: self).nanoseconds
    }
}

extension Timeouts {
    /// The same, but for the limits that a request has of its own.
    func replaced(by own: RequestTimeouts) -> Timeouts {
        Timeouts(
            queue: own.queue.map(\.duration) ?? queue,
            resolve: own.resolve.map(\.duration) ?? resolve,
            connect: own.connect.map(\.duration) ?? connect,
            tls: own.tls.map(\.duration) ?? tls,
            write: own.write.map(\.duration) ?? write,
            response: own.response.map(\.duration) ?? response,
            read: own.read.map(\.duration) ?? read,
            continue: own.continue.map(\.duration) ?? `continue`,
            minimumSpeed: own.minimumSpeed.map(\.speed) ?? minimumSpeed,
            total: own.total.map(\.duration) ?? total
        )
    }
}
