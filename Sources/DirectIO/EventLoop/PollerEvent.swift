/// An event that the kernel's readiness queue reported for one registered handle.
struct PollerEvent {
    /// The value given at registration.
    var token: UnsafeMutableRawPointer
    /// Whether there may be input.
    var canRead: Bool
    /// Whether there may be room for output.
    var canWrite: Bool
    /// Whether the peer has finished sending or the connection is dead. Reads will not block again.
    var isHungUp: Bool
    /// Whether a read may from now on return less than was asked for although there is more.
    var mayStopShort = false
}
