import DirectHTTP1

/// What `write` puts into memory that ends just behind the given room.
func written(
    _ room: Int,
    _ write: (UnsafeMutableRawBufferPointer) throws(HTTP1Error) -> Int
) throws(HTTP1Error) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
    defer { unsafe buffer.deallocate() }
    let count = try unsafe write(buffer)
    return unsafe Array(buffer.prefix(count))
}
