/// Writes a request's head into a buffer, and checks the bytes while it copies them. Each function writes its
/// line with the line end.
@safe struct RequestOutput {
    /// The start of the buffer. The memory is the caller's; the size bound was checked to fit into it.
    private let base: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    /// Whether a TE field was written.
    private var hasTE = false

    init(_ buffer: UnsafeMutableRawBufferPointer, needed: Int) throws(HTTP1Error) {
        guard buffer.count >= needed, let start = buffer.baseAddress else {
            throw .outputTooSmall(needed: needed)
        }
        unsafe base = start.assumingMemoryBound(to: UInt8.self)
    }

    @inline(__always)
    mutating func write(_ text: StaticString) {
        unsafe (base + count).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        count &+= text.utf8CodeUnitCount
    }

    mutating func writeMethod(_ method: HTTPMethod) throws(HTTP1Error) {
        if let name = method.knownName {
            write(name)
            write(" ")
            return
        }
        var name = method.description
        let output = unsafe base + count
        let isToken = name.withUTF8 { name in
            guard let source = name.baseAddress else { return false }
            return unsafe ByteScan.copyToken(source, count: name.count, to: output)
        }
        guard isToken else { throw .invalidMethod }
        count &+= name.utf8.count
        write(" ")
    }

    mutating func writeTarget(_ target: [UInt8]) throws(HTTP1Error) {
        let output = unsafe base + count
        let isVisible = unsafe target.withUnsafeBufferPointer { target in
            guard let source = target.baseAddress, !target.isEmpty else { return false }
            return unsafe ByteScan.copyVisible(source, count: target.count, to: output)
        }
        guard isVisible else { throw .invalidTarget }
        count &+= target.count
    }

    /// Writes a host and an optional port, of the characters that RFC 3986, section 3.2 allows there
    /// (CVE-2023-29406). User information is not allowed.
    mutating func writeAuthority(_ authority: [UInt8]) throws(HTTP1Error) {
        let output = unsafe base + count
        let isAuthority = unsafe authority.withUnsafeBufferPointer { authority in
            guard let source = authority.baseAddress, !authority.isEmpty else { return false }
            return unsafe ByteScan.copyAuthority(source, count: authority.count, to: output)
        }
        guard isAuthority else { throw .invalidAuthority }
        count &+= authority.count
    }

    /// Writes the fields that the caller may send, except those whose name occurs in `others`.
    mutating func writeFields(
        _ headers: HTTPHeaders,
        of head: RequestHead,
        _ framing: BodyFraming,
        _ announced: RequestHead.Announcements,
        unless others: HTTPHeaders = HTTPHeaders()
    ) throws(HTTP1Error) {
        guard let block = headers.block else { return }
        if block.counts.areLines, others.block?.sharesNames(with: block) != true {
            writeLines(block)
            return
        }
        for index in 0..<block.counts.fields {
            let name = unsafe block.name(at: index)
            if let other = others.block, unsafe other.hasField(named: name) { continue }
            let value = unsafe block.value(at: index)
            let start = count
            try unsafe writeName(name)
            switch unsafe OwnedFields.verdict(name, value: value, in: head, framing, announced) {
            case .passes: try unsafe writeValue(value, of: name)
            case .passesNamed:
                hasTE = true
                try unsafe writeValue(value, of: name)
            case .passedOver: count = start
            case .refused: throw unsafe .fieldOwnedByLibrary(name: String(fieldText: name))
            }
        }
    }

    /// Writes lines that were checked when they were added.
    private mutating func writeLines(_ block: HeaderBlock) {
        unsafe (base + count).update(from: block.bytes, count: block.counts.bytes)
        count += block.counts.bytes
    }

    mutating func writeTrailers(_ trailers: HTTPHeaders) throws(HTTP1Error) {
        guard let block = trailers.block else { return }
        for index in 0..<block.counts.fields {
            let name = unsafe block.name(at: index)
            try unsafe writeName(name)
            if unsafe OwnedFields.isForbiddenInTrailers(name) {
                throw unsafe .fieldForbiddenInTrailers(name: String(fieldText: name))
            }
            try unsafe writeValue(block.value(at: index), of: name)
        }
    }

    mutating func writeFraming(_ framing: BodyFraming, method: HTTPMethod, expectContinue: Bool) {
        if let length = framing.contentLength(in: method) {
            write("Content-Length: ")
            write(length)
            write("\r\n")
        } else if framing == .chunked {
            write("Transfer-Encoding: chunked\r\n")
        }
        // RFC 9110, section 10.1.1: a request without content must not send Expect.
        if expectContinue, framing.hasContent { write("Expect: 100-continue\r\n") }
    }

    /// Call it after the fields: a TE field is named in Connection, because it is for the next recipient only
    /// (RFC 9110, section 10.1.4).
    @inline(__always)
    mutating func writeConnection(of head: RequestHead, _ announced: RequestHead.Announcements) {
        if announced.close || announced.upgrade || hasTE { writeOptions(of: head, announced) }
    }

    @inline(never)
    private mutating func writeOptions(of head: RequestHead, _ announced: RequestHead.Announcements) {
        let options = OwnedFields.connectionOptions(of: head, announced)
        guard !options.isEmpty else { return }
        write("Connection: ")
        for byte in options.utf8 {
            unsafe base[count] = byte
            count &+= 1
        }
        write("\r\n")
    }

    /// Checked before any other error about the field, so that no error repeats a name that is not a token.
    @inline(__always)
    private mutating func writeName(_ name: UnsafeBufferPointer<UInt8>) throws(HTTP1Error) {
        guard let source = name.baseAddress, !name.isEmpty,
            unsafe ByteScan.copyToken(source, count: name.count, to: base + count)
        else { throw .invalidRequestFieldName }
        count &+= name.count
    }

    @inline(__always)
    private mutating func writeValue(
        _ value: UnsafeBufferPointer<UInt8>,
        of name: UnsafeBufferPointer<UInt8>
    ) throws(HTTP1Error) {
        write(": ")
        if let source = value.baseAddress {
            guard unsafe ByteScan.copyText(source, count: value.count, to: base + count) else {
                throw unsafe .invalidRequestFieldValue(name: String(fieldText: name))
            }
        }
        count &+= value.count
        write("\r\n")
    }

    private mutating func write(_ number: UInt64) {
        var digits = 1
        var rest = number
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        rest = number
        for position in stride(from: digits - 1, through: 0, by: -1) {
            unsafe base[count + position] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += digits
    }
}
