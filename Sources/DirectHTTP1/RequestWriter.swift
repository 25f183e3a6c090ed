/// How a request's content is delimited.
package enum BodyFraming: Hashable, Sendable {
    case none
    case length(UInt64)
    case chunked
}

/// Writes requests as bytes, each of which is looked at (CVE-2022-3215, CVE-2023-0040): a field's when it is
/// added to `Headers`, while it is copied there, all others on their way out.
///
/// What is wrong is refused, never stripped. Host, Content-Length, Transfer-Encoding, Connection and Expect are
/// the library's: a caller's Host that equals the authority is passed over, the others are refused. Names,
/// target and authority are ASCII; values may have bytes beyond it, as cookies do (RFC 9110, section 5.5).
package enum RequestWriter {
    /// Room that is always enough for such a head.
    package static func headSizeBound(
        method: Method,
        target: [UInt8],
        authority: [UInt8],
        headers: Headers,
        extra: Headers
    ) -> Int {
        fixedBytes + method.byteCount + target.count + authority.count + headers.sizeBound + extra.sizeBound
    }

    /// Writes a request's head and says how long it is.
    ///
    /// `target` is in the form the client has chosen; of `extra`, its defaults, those fields are left out whose
    /// name `headers` has. `upgrade` lets an Upgrade field pass and names it in Connection.
    package static func writeHead(
        method: Method,
        target: [UInt8],
        authority: [UInt8],
        headers: Headers,
        extra: Headers,
        framing: BodyFraming,
        expectContinue: Bool = false,
        close: Bool = false,
        upgrade: Bool = false,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(HTTP1Error) -> Int {
        let needed = headSizeBound(
            method: method,
            target: target,
            authority: authority,
            headers: headers,
            extra: extra
        )
        var output = try unsafe RequestOutput(buffer, needed: needed)
        try output.writeMethod(method)
        try output.writeTarget(target)
        output.write(" HTTP/1.1\r\nHost: ")
        try output.writeAuthority(authority)
        output.write("\r\n")
        try output.writeFields(headers, authority: authority, upgrade: upgrade)
        try output.writeFields(extra, authority: authority, upgrade: upgrade, unless: headers)
        output.writeFraming(framing, method: method, expectContinue: expectContinue)
        output.writeConnection(close: close, upgrade: upgrade && headers.index(of: "upgrade") != nil)
        output.write("\r\n")
        return output.count
    }

    /// Room for a chunk's size line, and for the line end behind its data.
    package static let chunkHeadSizeBound = 18
    /// What follows a chunk's data.
    package static let chunkEnd: [UInt8] = [.carriageReturn, .lineFeed]

    /// Writes the size line of a chunk; the size must not be 0, which would end the body.
    package static func writeChunkHead(size: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        precondition(size > 0 && buffer.count >= chunkHeadSizeBound)
        let digits = (Int.bitWidth - size.leadingZeroBitCount + 3) / 4
        for position in 0..<digits {
            let digit = UInt8(truncatingIfNeeded: size >> (4 * (digits - 1 - position)) & 15)
            unsafe buffer[position] = digit < 10 ? 0x30 + digit : 0x57 + digit
        }
        unsafe buffer[digits] = .carriageReturn
        unsafe buffer[digits + 1] = .lineFeed
        return digits + 2
    }

    /// Room that is always enough for the last chunk with these trailers.
    package static func lastChunkSizeBound(trailers: Headers) -> Int {
        fixedBytes + trailers.sizeBound
    }

    /// Writes the last chunk and the trailer section, and says how long they are.
    package static func writeLastChunk(
        trailers: Headers,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(HTTP1Error) -> Int {
        var output = try unsafe RequestOutput(buffer, needed: lastChunkSizeBound(trailers: trailers))
        output.write("0\r\n")
        try output.writeTrailers(trailers)
        output.write("\r\n")
        return output.count
    }

    /// All that the library adds to a head, rounded up.
    private static let fixedBytes = 160
}

extension Headers {
    /// Bytes that the fields take on the wire, at most.
    fileprivate var sizeBound: Int {
        guard let block else { return 0 }
        return block.counts.bytes + HeaderBlock.lineOverhead * block.counts.fields
    }
}
