package import DirectHTTP1

/// A response as the transport delivers it: its head has arrived, its body may still be arriving.
///
/// A tuple, because its parts move on into the client's response one by one.
package typealias IncomingResponse = (head: ResponseHead, body: IncomingBody, record: ExchangeRecord)

/// The body of a response, and with it the duty to end the lease on the connection.
package enum IncomingBody {
    /// The content and the trailers. The lease has ended.
    case complete([UInt8], HTTPHeaders)
    /// The content so far, and the reader of the rest. Its owner ends the lease.
    indirect case arriving(BodyReading, first: [UInt8], ConnectionPool.Lease)
    /// The connection serves another protocol, or the other end of a tunnel. It has left the pool.
    case upgraded(Connection, Timeouts.Nanoseconds)
}
