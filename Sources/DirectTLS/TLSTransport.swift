/// Where the encrypted bytes come from and go to: a socket, another TLS connection, or a test's memory.
///
/// Two plain C functions and a pointer, because every record passes here. Each answers with the number
/// of bytes it moved, or with one of the values below. Neither may raise a signal (`MSG_NOSIGNAL`).
package struct TLSTransport {
    package typealias Read = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer, Int) -> Int
    package typealias Write = @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer, Int) -> Int

    /// The other side will send nothing more. Only a read answers this.
    package static let endOfStream = 0

    /// Nothing to read, or no room to write, for now.
    package static let wouldBlock = -1

    /// The transport must first move bytes the other way, as one that is TLS itself sometimes must.
    package static let wouldBlockCrosswise = Int.min

    /// The transport has used input up without a byte for its reader, and may have more at once. Only a read
    /// answers this.
    package static let again = Int.min + 1

    /// The transport is broken, for this reason.
    package static func failure(errno: Int32) -> Int {
        -Int(errno) - 1
    }

    /// Handed to both functions. Not owned here: it must outlive the connection.
    package let context: UnsafeMutableRawPointer?
    package let read: Read
    package let write: Write

    package init(context: UnsafeMutableRawPointer?, read: @escaping Read, write: @escaping Write) {
        self.context = context
        self.read = read
        self.write = write
    }

    static func errno(ofFailure answer: Int) -> Int32 {
        Int32(truncatingIfNeeded: -(answer + 1))
    }
}
