/// One element of DER (X.690), for bytes that are looked at before OpenSSL reads them. Lengths of BER are
/// none.
struct DERElement {
    let tag: UInt8
    let content: ArraySlice<UInt8>

    /// Takes the next element; `nil` at the end, and where the bytes are no DER.
    init?(from rest: inout ArraySlice<UInt8>) {
        guard let tag = rest.popFirst(), let first = rest.popFirst() else { return nil }
        var count = Int(first)
        if first >= 0x80 {
            let size = Int(first & 0x7F)
            guard (1...4).contains(size), rest.count >= size else { return nil }
            count = rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(size)
        }
        guard count <= rest.count else { return nil }
        (self.tag, content) = (tag, rest.prefix(count))
        rest = rest.dropFirst(count)
    }

    /// The elements of the content; `nil` if it is no row of them.
    var elements: [DERElement]? { Self.all(in: content) }

    /// Returns the elements of the bytes; `nil` if they are no row of them.
    static func all(in bytes: ArraySlice<UInt8>) -> [DERElement]? {
        var (rest, elements) = (bytes, [DERElement]())
        while let element = DERElement(from: &rest) { elements.append(element) }
        return rest.isEmpty ? elements : nil
    }
}
