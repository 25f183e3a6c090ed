internal import DirectCore
internal import DirectIO

/// The time limits of each phase of a request. `nil` means no limit.
///
/// Most limit a phase, or a time without progress within one; ``total`` limits the whole call, from its beginning
/// to the last byte of the body, with everything in between.
public struct Timeouts: Hashable, Sendable {
    /// Waiting in the queue for a connection, while no other request of the queue gets one either: a long queue
    /// that moves is not stuck. Also waiting for a descriptor if the process has none left.
    public var queue: Duration? { didSet { nanoseconds.queue = Self.nanoseconds(queue) } }
    /// Resolving the name.
    public var resolve: Duration? { didSet { nanoseconds.resolve = Self.nanoseconds(resolve) } }
    /// Connecting to one address.
    public var connect: Duration? { didSet { nanoseconds.connect = Self.nanoseconds(connect) } }
    /// The TLS handshake with one address.
    public var tls: Duration? { didSet { nanoseconds.tls = Self.nanoseconds(tls) } }
    /// Waiting for the peer to take more of what is being sent.
    public var write: Duration? { didSet { nanoseconds.write = Self.nanoseconds(write) } }
    /// Waiting for the response once the request has been sent.
    public var response: Duration? { didSet { nanoseconds.response = Self.nanoseconds(response) } }
    /// Waiting for more of a response that has begun.
    public var read: Duration? { didSet { nanoseconds.read = Self.nanoseconds(read) } }
    /// Waiting for the server's permission to send a body (``HTTPClient/Request/expectsContinue``). After that the
    /// body is sent anyway.
    public var `continue`: Duration? { didSet { nanoseconds.continue = Self.nanoseconds(`continue`) } }
    /// The minimum speed of bodies in both directions, measured while waiting for the peer.
    public var minimumSpeed: Speed? { didSet { nanoseconds.speed = Speed.Watch(minimumSpeed) } }
    /// The whole call.
    public var total: Duration? { didSet { nanoseconds.total = Self.nanoseconds(total) } }

    /// The limits as machine words, converted once and not at every wait.
    package private(set) var nanoseconds: Nanoseconds

    /// Makes limits. The defaults are generous, and the whole call has no limit.
    public init(
        queue: Duration? = .seconds(30),
        resolve: Duration? = .seconds(10),
        connect: Duration? = .seconds(10),
        tls: Duration? = .seconds(10),
        write: Duration? = .seconds(60),
        response: Duration? = .seconds(60),
        read: Duration? = .seconds(60),
        continue: Duration? = .seconds(1),
        minimumSpeed: Speed? = nil,
        total: Duration? = nil
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
        nanoseconds = Nanoseconds(
            queue: Self.nanoseconds(queue),
            resolve: Self.nanoseconds(resolve),
            connect: Self.nanoseconds(connect),
            tls: Self.nanoseconds(tls),
            write: Self.nanoseconds(write),
            response: Self.nanoseconds(response),
            read: Self.nanoseconds(read),
            continue: Self.nanoseconds(`continue`),
            speed: Speed.Watch(minimumSpeed),
            total: Self.nanoseconds(total)
        )
    }

    /// The limits in nanoseconds; the largest value means no limit.
    package struct Nanoseconds: Hashable, Sendable {
        package var queue, resolve, connect, tls, write, response, read, `continue`: UInt64
        var speed: Speed.Watch
        package var total: UInt64
    }

    /// A minimum number of bytes in each interval spent waiting for the peer.
    public struct Speed: Hashable, Sendable, CustomStringConvertible {
        /// The number of bytes.
        public var bytes: Int
        /// The length of the interval.
        public var time: Duration

        /// Makes a minimum of so many bytes in each interval of that length.
        public init(bytes: Int, in time: Duration) {
            self.bytes = bytes
            self.time = time
        }

        /// The number of bytes and the interval.
        public var description: String { "\(bytes) bytes in \(time)" }

        /// The speed as machine words.
        struct Watch: Hashable, Sendable {
            let bytes: UInt64
            /// The length of the interval; the largest value means no minimum speed.
            let nanoseconds: UInt64

            init(_ speed: Speed?) {
                bytes = UInt64(max(0, speed?.bytes ?? 0))
                // Not zero: every check would complete an interval.
                nanoseconds = speed.map { max(1_000_000, $0.time.clampedNanoseconds) } ?? .max
            }
        }
    }

    private static func nanoseconds(_ duration: Duration?) -> UInt64 {
        duration?.clampedNanoseconds ?? .max
    }
}
