internal import CDirectZlib

/// The bytes as zlib codes them: 31 as `gzip`, 15 as `deflate`, -15 without anything around them.
package func deflated(_ bytes: [UInt8], windowBits: Int32 = 31, level: Int32 = 6) -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    guard
        deflateInit2_(&stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
            == Z_OK
    else { preconditionFailure("zlib does not begin") }
    defer { deflateEnd(&stream) }
    var input = bytes
    let bound = Int(deflateBound(&stream, UInt(bytes.count)))
    return [UInt8](unsafeUninitializedCapacity: bound) { room, count in
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = room.baseAddress
            stream.avail_out = UInt32(room.count)
            guard deflate(&stream, Z_FINISH) == Z_STREAM_END else { preconditionFailure("zlib does not end") }
        }
        count = bound - Int(stream.avail_out)
    }
}
