internal import DirectCoding
internal import DirectCore
internal import DirectJSON

/// A test of the content decoders: an encoded body and the result of decoding it.
struct DecodingVector: TopicVector {
    var head: VectorHead
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

    init(from decoder: any Decoder) throws {
        let members = try decoder.strict
        head = try VectorHead(from: decoder)
        encodings = try members.required("encodings")
        needs = try members.optional("needs") ?? []
        settings = try members.optional("limits")
        let bounds = try members.optional("limits") ?? DecodingBounds()
        (limits, maximumCodings) = (bounds.limits, bounds.codings)
        input = try members.required("input", as: Repeated<Hexadecimal>.self).bytes
        expect = try members.required("expect")
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
}

extension DecodingVector.Decoded: Decodable {
    init(from decoder: any Decoder) throws {
        let members = try decoder.strict
        let content = try members.optional("content", as: Repeated<Latin1>.self)
        let fault = try members.optional("fault", as: String.self)
        switch (content, fault, try members.optional("raw", as: Bool.self)) {
        case (let content?, nil, nil): self = .content(content.bytes)
        case (nil, let fault?, nil): self = .fault(fault)
        case (nil, nil, true): self = .raw
        default: throw members.value.fault("one of content, fault and raw is expected")
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

/// The decoder's limits and the maximum number of codings.
struct DecodingBounds: MayBeAbsent {
    var limits = DecodingLimits()
    var codings = 5

    init() {}

    init(from decoder: any Decoder) throws {
        let members = try decoder.strict
        limits.size = try members.optional("size") ?? limits.size
        // Null means no limit.
        limits.ratio = try members.optional("ratio", as: UInt64?.self) ?? limits.ratio
        limits.unratedSize = try members.optional("unratedSize") ?? limits.unratedSize
        let bound = try members.optional("inputWithoutOutput", as: UInt64?.self)
        limits.inputWithoutOutput = bound ?? limits.inputWithoutOutput
        codings = try members.optional("codings") ?? codings
    }
}

/// A part of an input or a content.
private protocol Part: FromJSON {
    /// The name of the member that gives it.
    static var name: String { get }
    var bytes: [UInt8] { get }
}

/// Bytes with two hexadecimal digits each.
private struct Hexadecimal: Part {
    static let name = "hex"
    let bytes: [UInt8]

    init(_ value: JSONValue) throws(FieldError) {
        guard let bytes = Hex.decode(try value.text()) else { throw value.fault("is not hexadecimal") }
        self.bytes = bytes
    }
}

private struct Latin1: Part {
    static let name = "text"
    let bytes: [UInt8]

    init(_ value: JSONValue) throws(FieldError) { bytes = try value.bytes() }
}

/// A value that is given once or in parts. A list may contain objects that give a part and the number of
/// times it is repeated.
private struct Repeated<Piece: Part>: FromJSON {
    private(set) var bytes: [UInt8] = []

    init(_ value: JSONValue) throws(FieldError) {
        guard case .array(let elements) = value.content else {
            bytes = try Piece(value).bytes
            return
        }
        for element in elements {
            guard case .object = element.content else {
                bytes += try Piece(element).bytes
                continue
            }
            let run = try StrictDecoder.decode(RepeatedPiece.self, from: element)
            for _ in 0..<max(0, run.times) { bytes += run.piece.bytes }
        }
    }

    private struct RepeatedPiece: Decodable {
        let piece: Piece
        let times: Int

        init(from decoder: any Decoder) throws {
            piece = try decoder.strict.required(Piece.name)
            times = try decoder.strict.required("times")
        }
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
