import DirectHTTP1

/// The bytes that `write` puts into memory that ends just after the given room.
func written(
    _ room: Int,
    _ write: (UnsafeMutableRawBufferPointer) throws(HTTP1Error) -> Int
) throws(HTTP1Error) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
    defer { unsafe buffer.deallocate() }
    let count = try unsafe write(buffer)
    return unsafe Array(buffer.prefix(count))
}

/// The head of a request with these fields, in as much room as they are said to need.
func writtenHead(_ headers: HTTPHeaders) throws(HTTP1Error) -> [UInt8] {
    try written(headSizeBound(headers)) { buffer throws(HTTP1Error) in
        try unsafe RequestWriter.writeHead(requestHead(headers), framing: .none, into: buffer)
    }
}

/// How much room that head is said to need.
func headSizeBound(_ headers: HTTPHeaders) -> Int { requestHead(headers).sizeBound }

private func requestHead(_ headers: HTTPHeaders) -> RequestHead {
    RequestHead(.get, target: [0x2f], authority: [0x61], headers: headers)
}
