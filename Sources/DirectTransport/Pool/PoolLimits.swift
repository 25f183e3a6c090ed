/// The limits on connections.
package struct PoolLimits {
    /// The open connections to one origin, busy and idle together.
    var perOrigin = Int.max
    /// The open connections in total.
    package var total = Int.max
    /// The idle connections in total.
    package var idle = 1024
    /// The bytes of certificates in total that idle connections may keep beyond those that they keep as a
    /// rule.
    var idleExcess = Int.max
    /// The time, in nanoseconds, that a connection may stay idle.
    package var idleTime = UInt64.max
    /// The age, in nanoseconds, after which a connection serves no further request.
    package var age = UInt64.max
    /// The number of requests that a connection may serve.
    package var uses = Int.max
    /// Whether there is a resolver whose answers may change.
    var tracksResolver = true

    /// Makes a value of its parts.
    package init(
        perOrigin: Int = Int.max,
        total: Int = Int.max,
        idle: Int = 1024,
        idleExcess: Int = Int.max,
        idleTime: UInt64 = UInt64.max,
        age: UInt64 = UInt64.max,
        uses: Int = Int.max,
        tracksResolver: Bool = true
    ) {
        self.perOrigin = perOrigin
        self.total = total
        self.idle = idle
        self.idleExcess = idleExcess
        self.idleTime = idleTime
        self.age = age
        self.uses = uses
        self.tracksResolver = tracksResolver
    }
}
