/// The properties of a world's network.
struct NetworkPlan: Codable, Equatable {
    /// The time that a segment takes, in microseconds.
    var shortestDelay = 100
    var longestDelay = 2000
    var segmentLimit = 16384
    var sendBuffer = 65536
    var receiveBuffer = 65536
    /// Of a hundred sends: cut short although there is room.
    var shortSends = 0
    /// Of a thousand segments: the connection breaks with it.
    var resets = 0
    /// The time that a blocking call takes to begin, in microseconds.
    var longestThreadStart = 1000
    /// Of a hundred sockets: refused, because no descriptor is left.
    var socketFailures = 0
    /// The number of sockets that may be open at a time.
    var descriptors: Int?
    /// The processor's time: at most so many nanoseconds for a job, and so many for each received byte.
    var jobCost = 0
    var byteCost = 0
}
