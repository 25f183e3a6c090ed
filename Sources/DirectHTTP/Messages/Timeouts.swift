internal import DirectIO

/// How long each phase of a request may take. Nothing means: as long as it likes.
///
/// All are stalls or phases of their own; `total` bounds the whole, from the call to the last byte of the
/// body, with everything that happens in between.
public struct Timeouts: Hashable, Sendable {
    /// Waiting for a turn when the client may not open another connection, while nobody before has a turn either: a
    /// line that moves is long, but not stuck. Also waiting for a descriptor where the process has none left.
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
    /// Waiting for leave to send a body (`Request.expectsContinue`). When it is over the body is sent anyway.
    public var `continue`: Duration? { didSet { nanoseconds.continue = Self.nanoseconds(`continue`) } }
    /// The slowest that bodies may move, in either direction, while we wait for the peer.
    public var minimumSpeed: Speed? { didSet { nanoseconds.speed = Speed.Watch(minimumSpeed) } }
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

    struct Nanoseconds: Hashable, Sendable {
        var queue, resolve, connect, tls, write, response, read, `continue`: UInt64
        var speed: Speed.Watch
        var total: UInt64
    }

    /// So many bytes, at least, in each stretch of time that is spent waiting for the peer.
    public struct Speed: Hashable, Sendable, CustomStringConvertible {
        /// How many.
        public var bytes: Int
        /// In what time.
        public var time: Duration

        /// At least that many bytes in each stretch of that time.
        public init(bytes: Int, in time: Duration) {
            self.bytes = bytes
            self.time = time
        }

        public var description: String { "\(bytes) bytes in \(time)" }

        /// The same as machine words.
        struct Watch: Hashable, Sendable {
            let bytes: UInt64
            /// Without end if nobody watches.
            let nanoseconds: UInt64

            init(_ speed: Speed?) {
                bytes = UInt64(max(0, speed?.bytes ?? 0))
                // Not none at all: each look would find the stretch over.
                nanoseconds = speed.map { max(1_000_000, $0.time.clampedNanoseconds) } ?? .max
            }
        }
    }

    private static func nanoseconds(_ duration: Duration?) -> UInt64 {
        duration?.clampedNanoseconds ?? .max
    }
}
