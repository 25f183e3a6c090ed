internal import DirectCore

/// The pool's state of one connection.
struct PooledState {
    /// The number of times it has been leased.
    var uses = 0
    /// When it became idle, or was leased to its current holder.
    var since = Instant(nanoseconds: 0)
    /// When it stops being leased, if it is idle until then.
    var expiry = Instant.never
    /// Whether it is idle.
    var isIdle = false
    /// Whether it is closed when it is given back.
    var isDraining = false
}
