/// A host name as DNS and TLS know it: lower-case ASCII labels, without trailing dot.
///
/// Each label has 1 to 63 letters, digits, hyphens or underscores, the whole at most 253. A name whose
/// last label is a number (`1.2.3`, `0x7f.1`, `example.09`) is refused, because some readers take it for
/// an address. Names beyond ASCII are given as A-labels (`xn--…`).
public struct DomainName: Hashable, Sendable {
    /// The name, in lower case.
    public let text: String

    /// Reads a name; upper case is lowered, anything else that is wrong throws.
    ///
    /// A trailing dot is refused here: a URL keeps it apart from the name.
    public init(_ text: String) throws(HostFault) {
        self = try withUTF8Result(of: text) { utf8 throws(HostFault) in
            try DomainName(utf8: utf8)
        }
    }

    /// Reads a name from the whole of the given bytes.
    package init(utf8: Span<UInt8>) throws(HostFault) {
        let bytes = try [UInt8](capacity: utf8.count) { (output) throws(HostFault) in
            let end = try Self.scan(utf8, from: 0, to: utf8.count, into: &output)
            guard end == utf8.count else { throw .invalidCharacter(utf8[end]) }
        }
        guard !bytes.isEmpty else { throw .missing }
        guard bytes.last != UInt8(ascii: ".") else { throw .emptyLabel }
        guard !Self.endsInNumber(bytes.span) else { throw .looksNumeric }
        self.init(scanned: bytes.span)
    }

    /// Takes bytes that `scan` has written and that do not end in a dot or a number.
    init(scanned bytes: Span<UInt8>) {
        text = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of the name.
    package var utf8: String.UTF8View { text.utf8 }

    /// Whether this name is the other one or lies below it, label by label: `www.example.com` is below
    /// `example.com`, `evilexample.com` is not.
    public func isSubdomain(of other: DomainName) -> Bool {
        guard text != other.text else { return true }
        let ours = text.utf8
        let theirs = other.text.utf8
        return ours.count > theirs.count
            && ours.dropLast(theirs.count).last == UInt8(ascii: ".")
            && ours.suffix(theirs.count).elementsEqual(theirs)
    }
}

extension DomainName: CustomStringConvertible {
    /// The name.
    public var description: String { text }
}

extension DomainName {
    static let maximumLength = 253
    static let maximumLabelLength = 63

    /// Writes the name at `start` in lower case, with its trailing dot if it has one, and returns where it
    /// stops: at a colon or the end. What no name may hold throws.
    @inline(__always)
    static func scan(
        _ text: Span<UInt8>,
        from start: Int,
        to end: Int,
        into output: inout OutputSpan<UInt8>
    ) throws(HostFault) -> Int {
        let allowed = ByteSet.hostName
        var position = start
        var labelStart = start
        while position < end {
            let byte = text[position]
            if allowed.contains(byte) {
                output.append(byte &- 0x41 < 26 ? byte | 0x20 : byte)
            } else if byte == UInt8(ascii: ".") {
                guard position > labelStart else { throw .emptyLabel }
                guard position - labelStart <= maximumLabelLength else { throw .labelTooLong }
                output.append(byte)
                labelStart = position + 1
            } else if byte == UInt8(ascii: ":") {
                break
            } else {
                throw fault(for: byte)
            }
            position += 1
        }
        guard position - labelStart <= maximumLabelLength else { throw .labelTooLong }
        // A trailing dot, the root's empty label, is not counted.
        let length = position - start - (labelStart == position && position > start ? 1 : 0)
        guard length <= maximumLength else { throw .tooLong }
        return position
    }

    private static func fault(for byte: UInt8) -> HostFault {
        switch byte {
        case 0x80...: .notASCII
        case UInt8(ascii: "%"): .percentEncoded
        default: .invalidCharacter(byte)
        }
    }

    /// WHATWG "ends in a number": the last label is all digits, or `0x` with hexadecimal digits or none.
    static func endsInNumber(_ name: Span<UInt8>) -> Bool {
        var start = name.count
        while start > 0, name[start - 1] != UInt8(ascii: ".") { start -= 1 }
        guard start < name.count, isDigit(name[start]) else { return false }
        let isHexadecimal = name.count - start >= 2 && name[start] == 0x30 && name[start + 1] == UInt8(ascii: "x")
        for index in (isHexadecimal ? start + 2 : start)..<name.count {
            let byte = name[index]
            guard isDigit(byte) || (isHexadecimal && byte &- 0x61 < 6) else { return false }
        }
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}

/// Lends the bytes of a string and passes a typed error through `withUTF8`, which knows none.
@inline(__always)
func withUTF8Result<Value, Fault: Error>(
    of text: String,
    _ body: (Span<UInt8>) throws(Fault) -> Value
) throws(Fault) -> Value {
    var text = text
    let result = text.withUTF8 { bytes -> Result<Value, Fault> in
        do throws(Fault) {
            return .success(try body(unsafe Span(_unsafeElements: bytes)))
        } catch {
            return .failure(error)
        }
    }
    return try result.get()
}
