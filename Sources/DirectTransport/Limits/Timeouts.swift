internal import DirectCore
package import DirectIO

/// The time limits of each phase of a request. `nil` means no limit.
///
/// Most limit a phase, or a time without progress within one; ``total`` limits the whole call, from its
/// beginning to the last byte of the body, with everything in between.
public struct Timeouts: Hashable, Sendable {
    /// Waiting in the queue for a connection, while no other request of the queue gets one either: a long
    /// queue that moves is not stuck. Also waiting for a descriptor if the process has none left.
    public var queue: Duration?
    /// Resolving the name.
    public var resolve: Duration?
    /// Connecting to one address.
    public var connect: Duration?
    /// The TLS handshake with one address. To read the files of the settings before it has a limit of its
    /// own, 15 seconds.
    public var tls: Duration?
    /// Waiting for the peer to take more of what is being sent.
    public var write: Duration?
    /// Waiting for the response once the request has been sent.
    public var response: Duration?
    /// Waiting for more of a response that has begun.
    public var read: Duration?
    /// Waiting for the server's permission to send a body (``HTTPClient/Request/expectsContinue``). After
    /// that the body is sent anyway.
    public var `continue`: Duration?
    /// The minimum speed of what is sent and received, heads included, measured while waiting for the peer to
    /// take or send more of it.
    public var minimumSpeed: Speed?
    /// The whole call.
    public var total: Duration?

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
    }

    /// The limits in nanoseconds, outside of a client.
    package var nanoseconds: Nanoseconds { nanoseconds(on: .code) }

    /// The limits in nanoseconds. Made once for a client, and once for a request that has limits of its own.
    ///
    /// - Parameter threads: The threads of the client.
    package func nanoseconds(on threads: BlockingWork) -> Nanoseconds { Nanoseconds(self, threads) }

    /// The limits as machine words.
    ///
    /// A class, because every value on the way of a request carries them: a reference is copied, not twelve
    /// words.
    package final class Nanoseconds: Sendable {
        package let queue, resolve, connect, tls, write, response, read, `continue`: IdleLimit
        package let speed: Speed.Watch
        /// The nanoseconds for the whole call; the largest value means no limit.
        package let total: UInt64
        /// The threads of the client, for code that may block and for what a call leaves behind.
        package let threads: BlockingWork

        fileprivate init(_ timeouts: Timeouts, _ threads: BlockingWork) {
            queue = IdleLimit(setByCaller: timeouts.queue)
            resolve = IdleLimit(setByCaller: timeouts.resolve)
            connect = IdleLimit(setByCaller: timeouts.connect)
            tls = IdleLimit(setByCaller: timeouts.tls)
            write = IdleLimit(setByCaller: timeouts.write)
            response = IdleLimit(setByCaller: timeouts.response)
            read = IdleLimit(setByCaller: timeouts.read)
            `continue` = IdleLimit(setByCaller: timeouts.continue)
            speed = Speed.Watch(timeouts.minimumSpeed)
            total = timeouts.total?.clampedNanoseconds ?? .max
            self.threads = threads
        }
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

        /// No minimum. A request sets it if it may be slower than others of its client.
        public static var unlimited: Speed { Speed(bytes: 0, in: .zero) }

        /// The number of bytes and the interval.
        public var description: String { "\(bytes) bytes in \(time.text)" }

        /// The speed as machine words.
        package struct Watch: Equatable, Sendable {
            let bytes: UInt64
            /// The length of the interval; the largest value means no minimum speed.
            let nanoseconds: UInt64

            package init(_ speed: Speed?) {
                bytes = UInt64(max(0, speed?.bytes ?? 0))
                // Not zero: every check would complete an interval.
                nanoseconds =
                    bytes == 0 ? .max : speed.map { max(1_000_000, $0.time.clampedNanoseconds) } ?? .max
            }
        }
    }
}

/// The limit on the time without progress in one phase.
///
/// Only a caller's settings can say that there is none: no code of this package begins a wait that has
/// neither such a limit nor that of the whole call, unless the waits of another task of the same call end it.
package struct IdleLimit: Equatable, Sendable {
    /// The limit in nanoseconds; the largest value means no limit.
    package let nanoseconds: UInt64

    /// Makes the limit that a caller has set.
    package init(setByCaller duration: Duration?) {
        nanoseconds = duration?.clampedNanoseconds ?? .max
    }

    /// For reading the files of the TLS settings, whose disk may hang.
    static let loading = IdleLimit(setByCaller: .seconds(15))

    /// No limit of its own: the wait ends with the upload, of which each wait for the peer has one.
    static let endsWithUpload = IdleLimit(setByCaller: nil)
}
