/// The transport of the encrypted bytes: a socket, another TLS connection, or a test's memory.
///
/// It consists of two plain C functions and a pointer, because every record passes through it. Each function
/// returns the number of bytes it moved, or one of the values below. Neither may raise a signal
/// (`MSG_NOSIGNAL`).
package struct TLSTransport {
    /// Reads at most the given number of bytes into the buffer.
    package typealias Read = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer, Int) -> Int
    /// Writes at most the given number of bytes from the buffer.
    package typealias Write = @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer, Int) -> Int

    /// The other side will send no more bytes. Only a read returns this.
    package static let endOfStream = 0

    /// There is nothing to read, or no room to write, for now.
    package static let wouldBlock = -1

    /// The transport must first move bytes in the other direction, as one that is itself TLS sometimes must.
    package static let wouldBlockCrosswise = Int.min

    /// The transport has used input without a byte for its reader, and may have more without waiting. Only a
    /// read returns this.
    package static let again = Int.min + 1

    /// Returns the value for a transport that failed with this `errno`.
    package static func failure(errno: Int32) -> Int {
        -Int(errno) - 1
    }

    /// The object that moves the bytes. A connection over this transport keeps it alive.
    package let owner: AnyObject
    /// The function that reads.
    package let read: Read
    /// The function that writes.
    package let write: Write

    /// Creates a transport from the object that moves the bytes and two functions, which get a pointer to it.
    package init(owner: AnyObject, read: @escaping Read, write: @escaping Write) {
        self.owner = owner
        self.read = read
        self.write = write
    }

    /// Returns the `errno` that a value from `failure` stands for.
    static func errno(ofFailure answer: Int) -> Int32 {
        Int32(truncatingIfNeeded: -(answer + 1))
    }
}
