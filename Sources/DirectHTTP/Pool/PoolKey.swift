internal import DirectIO

/// Which requests may share a connection: those for one origin.
///
/// The origin is scheme, name and port; never an address. A pool belongs to one client, whose TLS settings
/// never change, so these need no place in here.
struct PoolKey: Hashable {
    let origin: Origin
}
