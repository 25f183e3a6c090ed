internal import DirectHTTP1

/// Where the pieces of a response's body come from: a connection, or another such source whose pieces are
/// decoded, kept or counted on their way.
///
/// Letting go of it before its end gives up the rest.
protocol BodyPieces: AnyObject, Sendable {
    /// The next piece, never empty; nothing at the end. One task at a time may ask.
    func next() async throws -> [UInt8]?

    /// All that is left, unless it is more than `limit`.
    func collect(upTo limit: Int) async throws -> [UInt8]

    /// The fields that came behind the body; there once it has been read to its end.
    var trailers: Headers { get }
}
