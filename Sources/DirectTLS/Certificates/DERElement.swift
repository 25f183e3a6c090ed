/// One element of DER (X.690), for bytes that are looked at before OpenSSL reads them. Lengths of BER are
/// none, and tags of several bytes, in which OpenSSL reads small numbers, too.
struct DERElement {
    let tag: UInt8
    let content: ArraySlice<UInt8>

    /// Takes the next element; `nil` at the end, and where the bytes are no DER.
    init?(from rest: inout ArraySlice<UInt8>) {
        guard rest.count >= 2, rest[rest.startIndex] & 0x1F != 0x1F else { return nil }
        var start = rest.startIndex + 2
        var count = Int(rest[start - 1])
        if count >= 0x80 {
            let size = count & 0x7F
            guard (1...4).contains(size), rest.endIndex - start >= size else { return nil }
            count = 0
            for place in start..<(start + size) { count = count << 8 | Int(rest[place]) }
            start += size
        }
        guard count <= rest.endIndex - start else { return nil }
        (tag, content) = (rest[rest.startIndex], rest[start..<(start + count)])
        rest = rest[(start + count)...]
    }

    /// The elements of the content; `nil` if it is no row of them.
    var elements: [DERElement]? { Self.all(in: content) }

    /// Returns the same, and `nil` if the tag is another one.
    func elements(of tag: UInt8) -> [DERElement]? { self.tag == tag ? elements : nil }

    /// Returns the elements of the bytes; `nil` if they are no row of them.
    static func all(in bytes: ArraySlice<UInt8>) -> [DERElement]? {
        var (rest, elements) = (bytes, [DERElement]())
        while let element = DERElement(from: &rest) { elements.append(element) }
        return rest.isEmpty ? elements : nil
    }
}
