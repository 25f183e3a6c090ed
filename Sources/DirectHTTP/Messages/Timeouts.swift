internal import DirectIO

/// How long each phase of a request may take. Nothing means: as long as it likes.
///
/// All are stalls or phases of their own; `total` bounds the whole, from the call to the last byte of the
/// body, with everything that happens in between.
public struct Timeouts: Hashable, Sendable {
    /// Waiting for a turn when the client may not open another connection.
    public var queue: Duration? { didSet { nanoseconds.queue = Self.nanoseconds(queue) } }
    /// Turning the name into addresses.
    public var resolve: Duration? { didSet { nanoseconds.resolve = Self.nanoseconds(resolve) } }
    /// Connecting to one address.
    public var connect: Duration? { didSet { nanoseconds.connect = Self.nanoseconds(connect) } }
    /// The TLS handshake with one address.
    public var tls: Duration? { didSet { nanoseconds.tls = Self.nanoseconds(tls) } }
    /// The peer takes nothing of what is being sent.
    public var write: Duration? { didSet { nanoseconds.write = Self.nanoseconds(write) } }
    /// The request is sent and the peer says nothing.
    public var response: Duration? { didSet { nanoseconds.response = Self.nanoseconds(response) } }
    /// The response has begun and the peer sends nothing more.
    public var read: Duration? { didSet { nanoseconds.read = Self.nanoseconds(read) } }
    /// Everything together.
    public var total: Duration? { didSet { nanoseconds.total = Self.nanoseconds(total) } }

    /// The same as machine words, worked out once and not at every wait.
    private(set) var nanoseconds: Nanoseconds

    /// Patient defaults: what nobody waits longer for on purpose, and no bound on the whole.
    public init(
        queue: Duration? = .seconds(30),
        resolve: Duration? = .seconds(10),
        connect: Duration? = .seconds(10),
        tls: Duration? = .seconds(10),
        write: Duration? = .seconds(60),
        response: Duration? = .seconds(60),
        read: Duration? = .seconds(60),
        total: Duration? = nil
    ) {
        self.queue = queue
        self.resolve = resolve
        self.connect = connect
        self.tls = tls
        self.write = write
        self.response = response
        self.read = read
        self.total = total
        nanoseconds = Nanoseconds(
            queue: Self.nanoseconds(queue),
            resolve: Self.nanoseconds(resolve),
            connect: Self.nanoseconds(connect),
            tls: Self.nanoseconds(tls),
            write: Self.nanoseconds(write),
            response: Self.nanoseconds(response),
            read: Self.nanoseconds(read),
            total: Self.nanoseconds(total)
        )
    }

    struct Nanoseconds: Hashable, Sendable {
        var queue, resolve, connect, tls, write, response, read, total: UInt64
    }

    private static func nanoseconds(_ duration: Duration?) -> UInt64 {
        duration?.clampedNanoseconds ?? .max
    }
}
