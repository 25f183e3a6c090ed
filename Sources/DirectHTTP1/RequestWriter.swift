/// The framing of a request's content.
package enum BodyFraming: Equatable, Sendable {
    /// No content.
    case none
    /// Content of this many bytes, announced by Content-Length.
    case length(UInt64)
    /// Content of unknown length, in chunks.
    case chunked

    /// Whether there is content.
    package var hasContent: Bool {
        switch self {
        case .none, .length(0): false
        case .length, .chunked: true
        }
    }

    /// Returns the value of Content-Length in a request with this framing; `nil` if it has none.
    package func contentLength(in method: HTTPMethod) -> UInt64? {
        switch self {
        // RFC 9110, section 8.6: only methods that anticipate content announce its absence.
        case .none, .length(0): method.anticipatesContent ? 0 : nil
        case .length(let length): length
        case .chunked: nil
        }
    }
}

/// The contents of a request's head.
package struct RequestHead {
    let method: HTTPMethod
    /// The request target, in the form that the client has chosen.
    let target: [UInt8]
    let authority: [UInt8]
    let headers: HTTPHeaders
    /// The client's default fields. Those whose name occurs in `headers` are left out.
    let extra: HTTPHeaders
    /// A buffer size that is always sufficient for the head.
    package let sizeBound: Int

    /// Makes a head of its parts.
    package init(
        _ method: HTTPMethod,
        target: [UInt8],
        authority: [UInt8],
        headers: HTTPHeaders,
        extra: HTTPHeaders = HTTPHeaders()
    ) {
        self.method = method
        self.target = target
        self.authority = authority
        self.headers = headers
        self.extra = extra
        sizeBound =
            RequestWriter.fixedBytes + method.byteCount + target.count + authority.count
            + headers.sizeBound + extra.sizeBound
    }

    /// The announcements of a head in Expect and Connection. No `OptionSet`: in another module, to make an
    /// empty one costs 750 instructions.
    package struct Announcements {
        /// The body is sent when the server permits it.
        package let expectContinue: Bool
        /// The connection is closed after the response.
        package let close: Bool
        /// An Upgrade field is allowed, and named in Connection.
        package let upgrade: Bool

        /// Makes a value of its parts.
        package init(expectContinue: Bool = false, close: Bool = false, upgrade: Bool = false) {
            self.expectContinue = expectContinue
            self.close = close
            self.upgrade = upgrade
        }
    }
}

/// Writes requests as bytes, every one of which is checked (CVE-2022-3215, CVE-2023-0040): those of a field
/// when it is copied into `HTTPHeaders`, all others when they are written.
///
/// Invalid bytes are refused, never stripped. The library writes Host, Content-Length, Transfer-Encoding,
/// Connection and Expect: such a field from the caller is left out if it has the value that is written, and
/// refused otherwise. A TE field from the caller is named in Connection, and refused if it names chunked.
/// Names, target and authority are ASCII. Values may have bytes beyond ASCII, as cookies do (RFC 9110,
/// section 5.5).
package enum RequestWriter {
    /// Writes a request's head, and returns its length.
    package static func writeHead(
        _ head: RequestHead,
        framing: BodyFraming,
        announcing announced: RequestHead.Announcements = .init(),
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(HTTP1Error) -> Int {
        // RFC 9110, section 9.3.8.
        if framing.hasContent, head.method == .trace { throw .contentInTrace }
        let upgrade = announced.upgrade
        // The client's own is the last one.
        if upgrade, let first = head.headers.index(of: "upgrade"),
            head.headers.index(of: "upgrade", from: first + 1) != nil
        {
            throw .fieldOwnedByLibrary(name: "Upgrade")
        }
        var output = try unsafe RequestOutput(buffer, needed: head.sizeBound)
        try output.writeMethod(head.method)
        try output.writeTarget(head.target)
        output.write(" HTTP/1.1\r\nHost: ")
        try output.writeAuthority(head.authority)
        output.write("\r\n")
        try output.writeFields(head.headers, of: head, framing, announced)
        try output.writeFields(head.extra, of: head, framing, announced, unless: head.headers)
        output.writeFraming(framing, method: head.method, expectContinue: announced.expectContinue)
        output.writeConnection(of: head, announced)
        output.write("\r\n")
        return output.count
    }

    /// The same as bytes of their own.
    package static func head(
        _ head: RequestHead,
        framing: BodyFraming,
        announcing announced: RequestHead.Announcements
    ) throws(HTTP1Error) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: head.sizeBound, alignment: 1)
        defer { unsafe buffer.deallocate() }
        let count = try unsafe writeHead(head, framing: framing, announcing: announced, into: buffer)
        return unsafe Array(buffer[..<count])
    }

    /// A buffer size that is sufficient for a chunk's size line and the line end after its data.
    package static let chunkHeadSizeBound = 18
    /// The line end after a chunk's data.
    package static let chunkEnd: [UInt8] = [.carriageReturn, .lineFeed]

    /// Writes the size line of a chunk and returns its length. The size must not be 0, which would end the
    /// body.
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

    /// A buffer size that is always sufficient for the last chunk with these trailers.
    package static func lastChunkSizeBound(trailers: HTTPHeaders) -> Int {
        fixedBytes + trailers.sizeBound
    }

    /// Writes the last chunk and the trailer section, and returns their length.
    package static func writeLastChunk(
        trailers: HTTPHeaders,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(HTTP1Error) -> Int {
        var output = try unsafe RequestOutput(buffer, needed: lastChunkSizeBound(trailers: trailers))
        output.write("0\r\n")
        try output.writeTrailers(trailers)
        output.write("\r\n")
        return output.count
    }

    /// Content as one chunk. An empty one is not written: it would end the body.
    package static func chunk(_ content: ArraySlice<UInt8>) -> [UInt8] {
        content.isEmpty ? [] : Array("\(String(content.count, radix: 16))\r\n".utf8) + content + chunkEnd
    }

    /// The last chunk, for a recipient that passes on the trailers that it has parsed: without the fields
    /// that are not allowed there.
    package static func lastChunk(_ trailers: HTTPHeaders = HTTPHeaders()) -> [UInt8] {
        var allowed = trailers
        for index in trailers.indices {
            var name = trailers[index].name
            if name.withUTF8({ unsafe OwnedFields.isForbiddenInTrailers($0) }) { allowed.remove(name) }
        }
        let room = lastChunkSizeBound(trailers: allowed)
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            let whole = UnsafeMutableRawBufferPointer(buffer)
            count = (try? unsafe writeLastChunk(trailers: allowed, into: whole)) ?? 0
        }
        // Trailers that cannot be written are left out (RFC 9110, section 6.5.1).
        return bytes.isEmpty ? lastChunk() : bytes
    }

    /// All bytes that the library adds to a head, rounded up.
    fileprivate static let fixedBytes = 160
}

extension HTTPHeaders {
    /// The largest number of bytes that the fields may take on the wire.
    fileprivate var sizeBound: Int {
        guard let block else { return 0 }
        return block.counts.bytes + HeaderBlock.lineOverhead * block.counts.fields
    }
}
