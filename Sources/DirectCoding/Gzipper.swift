internal import CDirectZlib

/// Compresses bytes into one gzip member (RFC 1952), piece by piece.
///
/// The same pieces give the same bytes: the header has no time and no name.
package final class Gzipper {
    private let stream: UnsafeMutablePointer<z_stream>
    private static let pieceSize = 64 * 1024

    /// Makes a compressor.
    ///
    /// - Parameter level: From 1 (fast) to 9 (small).
    package init(level: Int) throws(CodingError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let level = Int32(min(max(level, 1), 9))
        // The call that the macro deflateInit2 expands to. 16 on top of the window bits means gzip.
        let size = Int32(MemoryLayout<z_stream>.size)
        guard
            deflateInit2_(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
                == Z_OK
        else { throw .outOfMemory(.gzip) }
    }

    deinit {
        // Has no effect on a stream that was not initialised.
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Returns the compressed bytes that these bytes complete; with `isLast` all that are left. May be empty.
    package func compress(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        var result: [UInt8] = []
        // zlib counts in 32 bits.
        var rest = bytes[...]
        repeat {
            let piece = rest.prefix(1 << 30)
            rest = rest.dropFirst(piece.count)
            piece.withUnsafeBytes {
                run($0, flush: isLast && rest.isEmpty ? Z_FINISH : Z_NO_FLUSH, into: &result)
            }
        } while !rest.isEmpty
        return result
    }

    private func run(_ input: UnsafeRawBufferPointer, flush: Int32, into result: inout [UInt8]) {
        // zlib does not write to its input; older headers do not declare it const.
        stream.pointee.next_in = UnsafeMutableRawPointer(mutating: input.baseAddress)?
            .assumingMemoryBound(to: Bytef.self)
        stream.pointee.avail_in = UInt32(input.count)
        var isFull = true
        while isFull {
            result += [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { room, count in
                stream.pointee.next_out = room.baseAddress
                stream.pointee.avail_out = UInt32(Self.pieceSize)
                // Fails only if there is nothing to do, or if the memory of the stream was overwritten.
                _ = deflate(stream, flush)
                count = Self.pieceSize - Int(stream.pointee.avail_out)
            }
            isFull = stream.pointee.avail_out == 0
        }
    }
}
