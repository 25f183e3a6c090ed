import Foundation

@testable import DirectCoding

/// A vector of `Fixtures/vectors/decoding`; its README says what the fields mean.
struct DecodingVector: Decodable {
    let name: String
    let why: String
    let reference: String
    let encodings: [String]
    let needs: [String]?
    let limits: [String: UInt64?]?
    let input: Repeated<Hexadecimal>
    let expect: Expectation

    struct Expectation: Decodable {
        let content: Repeated<Latin1>?
        let fault: String?
        let raw: Bool?
    }

    static func load() throws -> [DecodingVector] {
        let folder = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/vectors/decoding")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
            .sorted { $0.path < $1.path }
            .flatMap { try JSONDecoder().decode([DecodingVector].self, from: Data(contentsOf: $0)) }
    }

    /// Whether this build can undo what the vector is about.
    var canRun: Bool {
        (needs ?? []).allSatisfy { ContentCoding(name: $0)?.isAvailable ?? false }
    }

    func run(cutAt cuts: some Sequence<Int> = EmptyCollection()) -> Decoded {
        var limits = DecodingLimits()
        if let size = self.limits?["size"] { limits.size = size }
        if let ratio = self.limits?["ratio"] { limits.ratio = ratio }
        if let size = self.limits?["unratedSize"] { limits.unratedSize = size ?? 0 }
        if let limit = self.limits?["inputWithoutOutput"] { limits.inputWithoutOutput = limit }
        let codings = self.limits?["codings"].flatMap { $0 }.map { Int($0) } ?? 5
        return decode(input.bytes, encodings, limits, maximumCodings: codings, cutAt: cuts)
    }

    /// Whether that is what the vector expects.
    func expects(_ decoded: Decoded) -> Bool {
        switch decoded {
        case .content(let content): content == expect.content?.bytes
        case .fault(let error): error.label == expect.fault
        case .raw: expect.raw == true
        }
    }
}

/// Bytes as one text, or as a list of texts, of which some stand there many times.
struct Repeated<Text: ByteText>: Decodable {
    let bytes: [UInt8]

    private struct Part: Decodable {
        let hex: Text?
        let text: Text?
        let times: Int
    }

    init(from decoder: any Decoder) throws {
        if let text = try? Text(from: decoder) {
            bytes = text.bytes
            return
        }
        var list = try decoder.unkeyedContainer()
        var bytes: [UInt8] = []
        while !list.isAtEnd {
            if let text = try? list.decode(Text.self) {
                bytes += text.bytes
            } else {
                let part = try list.decode(Part.self)
                for _ in 0..<part.times { bytes += (part.hex ?? part.text)?.bytes ?? [] }
            }
        }
        self.bytes = bytes
    }
}

protocol ByteText: Decodable {
    var bytes: [UInt8] { get }
}

/// Two digits for each byte.
struct Hexadecimal: ByteText {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let digits = try container.decode(String.self).map { $0.hexDigitValue }
        guard digits.count % 2 == 0, !digits.contains(nil) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hexadecimal")
        }
        let values = digits.compactMap { $0 }
        bytes = stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}

/// A character for each byte.
struct Latin1: ByteText {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        bytes = try container.decode(String.self).unicodeScalars.map { scalar in
            guard let byte = UInt8(exactly: scalar.value) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no byte: \(scalar)")
            }
            return byte
        }
    }
}

extension CodingError {
    /// The case's name and its values, as in the vectors.
    var label: String {
        switch self {
        case .corrupt(let coding, _): "corrupt \(coding.name)"
        case .truncated(let coding): "truncated \(coding.name)"
        case .trailingBytes(let coding): "trailingBytes \(coding.name)"
        case .windowTooLarge(let coding, _): "windowTooLarge \(coding.name)"
        case .tooLarge(let limit): "tooLarge \(limit)"
        case .ratioTooHigh(let limit): "ratioTooHigh \(limit)"
        case .inputWithoutOutput(let limit): "inputWithoutOutput \(limit)"
        case .tooManyCodings(let limit): "tooManyCodings \(limit)"
        case .outOfMemory(let coding): "outOfMemory \(coding.name)"
        @unknown default: "unknown"
        }
    }
}
