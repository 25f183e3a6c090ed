/// A place for a head's bytes, which are checked while they are copied. A field's line end is written in front
/// of it, and that of the last one by whoever ends the section.
@safe struct RequestOutput {
    /// Where the next byte goes. The memory is the caller's; the size bound was checked to fit into it.
    private let base: UnsafeMutablePointer<UInt8>
    private(set) var count = 0

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

    mutating func writeMethod(_ method: Method) throws(HTTP1Error) {
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

    /// A host and perhaps a port, of the characters that RFC 3986, section 3.2 allows there (CVE-2023-29406);
    /// user information is no part of it.
    mutating func writeAuthority(_ authority: [UInt8]) throws(HTTP1Error) {
        guard !authority.isEmpty else { throw .invalidAuthority }
        for byte in authority {
            guard byte.isAuthorityCharacter else { throw .invalidAuthority }
            unsafe base[count] = byte
            count &+= 1
        }
    }

    /// Writes the fields that are the caller's to send; of a name that is in `others`, none.
    mutating func writeFields(
        _ headers: Headers,
        authority: [UInt8],
        upgrade: Bool,
        unless others: Headers = Headers()
    ) throws(HTTP1Error) {
        guard let block = headers.block else { return }
        for index in 0..<block.counts.fields {
            let name = unsafe block.name(at: index)
            if let other = others.block, unsafe other.hasField(named: name) { continue }
            let start = count
            try unsafe writeName(name)
            if unsafe OwnedFields.mayOwn(name) {
                switch unsafe OwnedFields.verdict(name, value: block.value(at: index), authority, upgrade) {
                case .passes: break
                case .passedOver:
                    count = start
                    continue
                case .refused: throw unsafe .fieldOwnedByLibrary(name: String(fieldText: name))
                }
            }
            try unsafe writeValue(block.value(at: index), of: name)
        }
    }

    mutating func writeTrailers(_ trailers: Headers) throws(HTTP1Error) {
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

    mutating func writeFraming(_ framing: BodyFraming, method: Method, expectContinue: Bool) {
        switch framing {
        case .none, .length(0):
            // RFC 9110, section 8.6: only methods that anticipate content say that there is none.
            if method.anticipatesContent { write("\r\nContent-Length: 0") }
            return
        case .length(let length):
            write("\r\nContent-Length: ")
            write(length)
        case .chunked:
            write("\r\nTransfer-Encoding: chunked")
        }
        // RFC 9110, section 10.1.1: not without content.
        if expectContinue { write("\r\nExpect: 100-continue") }
    }

    mutating func writeConnection(close: Bool, upgrade: Bool) {
        switch (close, upgrade) {
        case (false, false): break
        case (true, false): write("\r\nConnection: close")
        case (false, true): write("\r\nConnection: upgrade")
        case (true, true): write("\r\nConnection: close, upgrade")
        }
    }

    /// Checked before anything else is said about the field, so that no error repeats a name that is not one.
    @inline(__always)
    private mutating func writeName(_ name: UnsafeBufferPointer<UInt8>) throws(HTTP1Error) {
        write("\r\n")
        guard let source = name.baseAddress,
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
        guard let source = value.baseAddress else { return }
        guard unsafe ByteScan.copyText(source, count: value.count, to: base + count) else {
            throw unsafe .invalidRequestFieldValue(name: String(fieldText: name))
        }
        count &+= value.count
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
