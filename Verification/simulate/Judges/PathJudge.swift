/// Judges what the path to a server sees: where a host's name is encrypted, it is in no byte of any segment,
/// in neither direction, from the first client hello to the end of the connection.
///
/// The names of questions to resolvers and proxies are for those to read.
final class PathJudge {
    private unowned let world: World
    /// The last bytes of each direction of a connection, which a name may begin with.
    private var ends: [Direction: [UInt8]] = [:]

    private struct Direction: Hashable {
        let connection: Int
        let isUp: Bool
    }

    init(_ world: World) {
        self.world = world
    }

    func judge(_ bytes: [UInt8], on connection: SimulatedConnection, isUp: Bool) {
        guard let place = connection.place,
            world.isSecure(connection.port, of: place.host)
        else { return }
        world.kernel.count("judge: name on the path")
        let name = world.name(place.host)
        let direction = Direction(connection: connection.number, isUp: isUp)
        let seen = ends[direction, default: []] + bytes
        if String(decoding: seen, as: UTF8.self).reveals(name) {
            let side = isUp ? "the client" : "the server"
            world.fault("path", "\(side) shows \(name) on connection \(connection.number)")
        }
        ends[direction] = seen.suffix(name.utf8.count - 1)
    }
}
