internal import DirectCoding
internal import DirectCore
internal import DirectJSON

/// A test of the content decoders: an encoded body and the result of decoding it.
struct DecodingVector: Sendable {
    let head: VectorHead
    /// The values of the response's `Content-Encoding` fields.
    let encodings: [String]
    /// Content codings other than `gzip` and `deflate` that the vector uses and that a build may lack.
    let needs: [String]
    let limits: DecodingLimits
    let maximumCodings: Int
    /// The limits as they are in the file.
    let settings: JSONValue?
    let input: [UInt8]
    let expect: Decoded

    /// The result of decoding.
    enum Decoded: Equatable, Sendable {
        /// Decoding succeeds with this content.
        case content([UInt8])
        /// Decoding fails. The text is the error's name with its values.
        case fault(String)
        /// The body is passed on without decoding.
        case raw
    }

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldError) {
        self.head = head
        encodings = try fields.required("encodings", read: Read.texts)
        needs = try fields.optional("needs", read: Read.texts) ?? []
        settings = try fields.optional("limits", read: Read.anything)
        (limits, maximumCodings) = try settings.map(Read.decodingLimits) ?? (DecodingLimits(), 5)
        input = try fields.required("input", read: Read.repeated("hex", read: Read.hexadecimal))
        expect = try fields.required("expect", read: Self.expectation)
    }

    /// A required coding that this build does not support, or `nil`.
    var missing: String? {
        needs.first { ContentCoding(name: $0)?.isAvailable != true }
    }

    /// Decodes the input whole, byte by byte, and cut in two. Every way must give the same result.
    func differences() -> [Difference] {
        let count = input.count
        // Large inputs are cut at some positions only.
        let step = count > 400 || expect.contentCount > 20_000 ? count / 8 + 1 : 1
        var cuts = [("ending", []), ("byte by byte", Array(stride(from: 1, to: count, by: 1)))]
        for cut in stride(from: 1, to: count, by: step) { cuts.append(("cut at \(cut)", [cut])) }
        for (what, cuts) in cuts {
            let got = decoded(cutAt: cuts)
            guard got == expect else {
                return [Difference(what: what, expected: expect.words, got: got.words)]
            }
        }
        return []
    }

    /// Decodes the input in pieces that end at `cuts`.
    private func decoded(cutAt cuts: [Int]) -> Decoded {
        do throws(CodingError) {
            guard let codings = try ContentCoding.chain(listedIn: encodings, atMost: maximumCodings) else {
                return .raw
            }
            if codings.isEmpty { return .content(input) }
            let decoder = ContentDecoder(undoing: codings, within: limits)
            var content: [UInt8] = []
            var place = 0
            var ends = (cuts + [input.count])[...]
            while true {
                switch try decoder.next() {
                case .piece(let piece): content += piece
                case .needsInput:
                    if let end = ends.popFirst() {
                        decoder.feed(Array(input[place..<end]))
                        place = end
                    }
                    if ends.isEmpty { decoder.endInput() }
                case .unfinished: break
                case .end: return .content(content)
                }
            }
        } catch {
            return .fault(error.label)
        }
    }

    private static func expectation(_ value: JSONValue) throws(FieldError) -> Decoded {
        var fields = try Fields(value)
        let content = try fields.optional("content", read: Read.repeated("text", read: Read.bytes))
        let fault = try fields.optional("fault", read: Read.text)
        let raw = try fields.optional("raw", read: Read.flag)
        try fields.end()
        switch (content, fault, raw) {
        case (let content?, nil, nil): return .content(content)
        case (nil, let fault?, nil): return .fault(fault)
        case (nil, nil, true): return .raw
        default: throw FieldError(line: value.line, what: "one of content, fault and raw is expected")
        }
    }
}

extension DecodingVector.Decoded {
    fileprivate var contentCount: Int {
        if case .content(let content) = self { content.count } else { 0 }
    }

    fileprivate var words: String {
        switch self {
        case .content(let content) where content.count <= 80: "\(String(decoding: content, as: UTF8.self))"
        case .content(let content): "\(content.count) bytes"
        case .fault(let name): name
        case .raw: "raw"
        }
    }
}

extension Read {
    /// Reads the decoder's limits and the maximum number of codings.
    static func decodingLimits(_ value: JSONValue) throws(FieldError) -> (DecodingLimits, Int) {
        var limits = DecodingLimits()
        var fields = try Fields(value)
        if let size: UInt64 = try fields.optional("size", read: integer) { limits.size = size }
        if let ratio = try fields.optional("ratio", read: bound) { limits.ratio = ratio }
        if let size: UInt64 = try fields.optional("unratedSize", read: integer) {
            limits.unratedSize = size
        }
        if let limit = try fields.optional("inputWithoutOutput", read: bound) {
            limits.inputWithoutOutput = limit
        }
        let codings: Int? = try fields.optional("codings", read: integer)
        try fields.end()
        return (limits, codings ?? 5)
    }

    /// Reads a number or null, which means no limit.
    fileprivate static func bound(_ value: JSONValue) throws(FieldError) -> UInt64? {
        value.isNull ? nil : try integer(value)
    }

    /// Returns a reader for a value that is given once or in parts. A list may contain objects that give a part and
    /// the number of times it is repeated.
    fileprivate static func repeated(
        _ name: String,
        read: @escaping (JSONValue) throws(FieldError) -> [UInt8]
    ) -> (JSONValue) throws(FieldError) -> [UInt8] {
        { value throws(FieldError) in
            guard case .array(let elements) = value.content else { return try read(value) }
            var bytes: [UInt8] = []
            for element in elements {
                guard case .object = element.content else {
                    bytes += try read(element)
                    continue
                }
                var fields = try Fields(element)
                let part = try fields.required(name, read: read)
                let times: Int = try fields.required("times", read: integer)
                try fields.end()
                for _ in 0..<max(0, times) { bytes += part }
            }
            return bytes
        }
    }

    /// Reads bytes with two hexadecimal digits each.
    fileprivate static func hexadecimal(_ value: JSONValue) throws(FieldError) -> [UInt8] {
        guard let bytes = Hex.decode(try text(value)) else {
            throw FieldError(line: value.line, what: "is not hexadecimal")
        }
        return bytes
    }
}

extension CodingError {
    /// The case's name with its values, as the vectors write it.
    var label: String {
        switch self {
        case .corrupt(let coding, _): "corrupt \(coding.name)"
        case .truncated(let coding): "truncated \(coding.name)"
        case .trailingBytes(let coding): "trailingBytes \(coding.name)"
        case .windowTooLarge(let coding, _): "windowTooLarge \(coding.name)"
        case .tooLarge(let limit): "tooLarge \(limit)"
        case .inputWithoutOutput(let limit): "inputWithoutOutput \(limit)"
        case .ratioTooHigh(let limit): "ratioTooHigh \(limit)"
        case .tooManyCodings(let limit): "tooManyCodings \(limit)"
        case .outOfMemory(let coding): "outOfMemory \(coding.name)"
        @unknown default: "unknown"
        }
    }
}
