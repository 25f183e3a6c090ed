/// What the kernel's readiness queue has seen happen to one registered handle.
struct PollerEvent {
    var token: UnsafeMutableRawPointer
    var canRead: Bool
    var canWrite: Bool
    /// The peer is done sending, or the connection is dead: reads will not block again.
    var isHungUp: Bool
}
