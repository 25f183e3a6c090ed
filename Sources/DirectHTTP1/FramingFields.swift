/// The parts of a head that determine framing and connection reuse (RFC 9112, sections 6 and 9).
struct FramingFields {
    private(set) var contentLength: UInt64?
    /// Whether `chunked` is among the transfer codings.
    private(set) var isChunked = false
    /// Whether there are transfer codings besides `chunked`. The client asks for none (it sends no TE), so no
    /// content can be read.
    private(set) var hasOtherCodings = false
    private(set) var closes = false
    private(set) var keepsAlive = false
    private(set) var keepAlive: KeepAliveHint?
    /// Whether the fields have a fault that only leniency accepts, or that does not matter without content.
    private(set) var isDoubtful = false
    private let acceptsDoubt: Bool
    /// Whether the fields say that content follows.
    var announceContent: Bool { isChunked || hasOtherCodings || contentLength ?? 0 > 0 }

    init(acceptsDoubt: Bool = false) {
        self.acceptsDoubt = acceptsDoubt
    }

    /// Returns 1 if the name has the length of a field that matters here, else 0. Most names do not have it;
    /// it is also 1 for some names of more than 63 bytes, as only six bits of the length count.
    @inline(__always)
    static func mark(nameCount: Int) -> UInt64 {
        let lengths: UInt64 = 1 << 10 | 1 << 14 | 1 << 17
        return lengths &>> UInt64(truncatingIfNeeded: nameCount) & 1
    }

    /// Whether fields with this name say where the content ends.
    static func frame(name: UnsafePointer<UInt8>, nameCount: Int) -> Bool {
        unsafe name.spells("content-length", count: nameCount)
            || name.spells("transfer-encoding", count: nameCount)
    }

    /// Reads the field if it is one that matters here.
    mutating func read(
        name: UnsafePointer<UInt8>,
        nameCount: Int,
        value: UnsafePointer<UInt8>,
        valueCount: Int
    ) throws(HTTP1Error) {
        switch nameCount {
        case 10:
            if unsafe name.spells("connection", count: nameCount) {
                unsafe readConnection(value, count: valueCount)
            } else if unsafe name.spells("keep-alive", count: nameCount) {
                unsafe readKeepAlive(ListElements(value, count: valueCount))
            }
        case 14:
            if unsafe name.spells("content-length", count: nameCount) {
                try unsafe readContentLength(value, count: valueCount)
            }
        case 17:
            if unsafe name.spells("transfer-encoding", count: nameCount) {
                try unsafe readTransferEncoding(value, count: valueCount)
            }
        default: break
        }
    }

    /// Reads one number, or a list that repeats the same number (RFC 9110, section 8.6).
    private mutating func readContentLength(
        _ value: UnsafePointer<UInt8>,
        count: Int
    ) throws(HTTP1Error) {
        var position = 0
        while true {
            while position < count, unsafe value[position].isBlank { position += 1 }
            let length = try unsafe number(value, count: count, position: &position)
            guard contentLength == nil || contentLength == length else { throw .conflictingContentLengths }
            contentLength = length
            while position < count, unsafe value[position].isBlank { position += 1 }
            guard position < count else { return }
            guard unsafe value[position] == .comma else { throw .invalidContentLength }
            position += 1
        }
    }

    /// Reads `1*DIGIT`: no sign, no hexadecimal digits, no overflow (CVE-2021-32715).
    private func number(
        _ value: UnsafePointer<UInt8>,
        count: Int,
        position: inout Int
    ) throws(HTTP1Error) -> UInt64 {
        let start = position
        var number: UInt64 = 0
        while position < count, let digit = unsafe value[position].digit {
            // The largest number that one more digit cannot take beyond 2^63 - 1.
            guard number <= (UInt64(Int64.max) &- 9) / 10 else { throw .contentLengthOverflow }
            number = number &* 10 &+ UInt64(digit)
            position &+= 1
        }
        guard position > start else { throw .invalidContentLength }
        return number
    }

    /// Several fields form one list, and empty elements count for nothing (RFC 9110, sections 5.3 and
    /// 5.6.1.2). Not all recipients see it so: a list with one leaves the framing in doubt.
    private mutating func readTransferEncoding(
        _ value: UnsafePointer<UInt8>,
        count: Int
    ) throws(HTTP1Error) {
        var elements = unsafe ListElements(value, count: count)
        let all = unsafe UnsafeBufferPointer(start: value, count: count).count { $0 == .comma } + 1
        var found = 0
        while let coding = unsafe elements.next() {
            found += 1
            let nameCount = unsafe ByteScan.endOfToken(coding.bytes, from: 0, to: coding.count)
            if unsafe coding.bytes.spells("chunked", count: nameCount) {
                guard unsafe nameCount == coding.count else { throw .invalidTransferEncoding }
                guard !isChunked || acceptsDoubt else { throw .repeatedChunkedCoding }
                if isChunked { isDoubtful = true }
                isChunked = true
            } else {
                try unsafe checkParameters(coding.bytes, nameCount: nameCount, count: coding.count)
                isDoubtful = true
                // `identity` meant "no coding" in RFC 2616; later RFCs removed it.
                let isIgnored =
                    unsafe acceptsDoubt && !isChunked
                    && coding.bytes.spells("identity", count: coding.count)
                if !isIgnored { hasOtherCodings = true }
            }
        }
        guard found > 0 else { throw .invalidTransferEncoding }
        if found < all { isDoubtful = true }
    }

    /// Checks that a coding is a token with optional parameters, all of it ASCII (CVE-2025-69224).
    private func checkParameters(
        _ coding: UnsafePointer<UInt8>,
        nameCount: Int,
        count: Int
    ) throws(HTTP1Error) {
        guard nameCount > 0 else { throw .invalidTransferEncoding }
        var position = nameCount
        while position < count, unsafe coding[position].isBlank { position += 1 }
        guard position < count else { return }
        guard unsafe coding[position] == .semicolon else { throw .invalidTransferEncoding }
        while position < count {
            guard unsafe coding[position] < 0x80 else { throw .invalidTransferEncoding }
            position += 1
        }
    }

    private mutating func readConnection(_ value: UnsafePointer<UInt8>, count: Int) {
        if unsafe value.spells("keep-alive", count: count) {
            keepsAlive = true
            return
        }
        var elements = unsafe ListElements(value, count: count)
        while let option = unsafe elements.next() {
            if unsafe option.bytes.spells("close", count: option.count) {
                closes = true
            } else if unsafe option.bytes.spells("keep-alive", count: option.count) {
                keepsAlive = true
            }
        }
    }

    private mutating func readKeepAlive(_ list: ListElements) {
        var elements = list
        var hint = keepAlive ?? KeepAliveHint()
        while let parameter = unsafe elements.next() {
            let nameCount = unsafe ByteScan.endOfToken(parameter.bytes, from: 0, to: parameter.count)
            guard unsafe nameCount < parameter.count, unsafe parameter.bytes[nameCount] == .equals else {
                continue
            }
            var position = nameCount + 1
            guard
                let value = try? unsafe number(parameter.bytes, count: parameter.count, position: &position),
                unsafe position == parameter.count
            else { continue }
            if unsafe parameter.bytes.spells("timeout", count: nameCount) {
                hint.timeout = UInt32(clamping: value)
            } else if unsafe parameter.bytes.spells("max", count: nameCount) {
                hint.max = UInt32(clamping: value)
            }
        }
        keepAlive = hint
    }
}
