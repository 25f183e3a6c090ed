import DirectHTTP1
import Foundation

/// The JSON vectors of one topic below `Fixtures/vectors`.
enum Vectors {
    static func load<Vector: Decodable>(_ topic: String, as type: Vector.Type = Vector.self) throws
        -> [Vector]
    {
        let folder = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/vectors/\(topic)")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
            .sorted { $0.path < $1.path }
        return try files.flatMap { try JSONDecoder().decode([Vector].self, from: Data(contentsOf: $0)) }
    }
}

/// Bytes, written as text in which each character is one of them.
struct Bytes: Decodable, Equatable {
    var values: [UInt8]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        values = try text.unicodeScalars.map { scalar in
            guard let byte = UInt8(exactly: scalar.value) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no byte: \(scalar)")
            }
            return byte
        }
    }

    /// The same as text of the same characters.
    var latin1: String { String(String.UnicodeScalarView(values.map { Unicode.Scalar($0) })) }
}

extension HTTP1Error {
    /// The case's name and its values, as in the vectors.
    var label: String {
        switch self {
        case .notHTTP: "notHTTP"
        case .unsupportedVersion: "unsupportedVersion"
        case .malformedStatusLine: "malformedStatusLine"
        case .malformedStatusCode: "malformedStatusCode"
        case .invalidReasonPhrase: "invalidReasonPhrase"
        case .bareCarriageReturn: "bareCarriageReturn"
        case .bareLineFeed: "bareLineFeed"
        case .invalidFieldName: "invalidFieldName"
        case .whitespaceBeforeColon: "whitespaceBeforeColon"
        case .missingColon: "missingColon"
        case .whitespaceBeforeFirstField: "whitespaceBeforeFirstField"
        case .foldedLine: "foldedLine"
        case .invalidFieldValue: "invalidFieldValue"
        case .headTooLarge(let limit): "headTooLarge \(limit)"
        case .lineTooLong(let limit): "lineTooLong \(limit)"
        case .tooManyFields(let limit): "tooManyFields \(limit)"
        case .tooManyInterimResponses(let limit): "tooManyInterimResponses \(limit)"
        case .chunkExtensionsTooLarge(let limit): "chunkExtensionsTooLarge \(limit)"
        case .trailersTooLarge(let limit): "trailersTooLarge \(limit)"
        case .tooManyTrailers(let limit): "tooManyTrailers \(limit)"
        case .invalidContentLength: "invalidContentLength"
        case .contentLengthOverflow: "contentLengthOverflow"
        case .conflictingContentLengths: "conflictingContentLengths"
        case .invalidTransferEncoding: "invalidTransferEncoding"
        case .repeatedChunkedCoding: "repeatedChunkedCoding"
        case .transferEncodingWithContentLength: "transferEncodingWithContentLength"
        case .transferEncodingInHTTP10: "transferEncodingInHTTP10"
        case .unsolicitedSwitchingProtocols: "unsolicitedSwitchingProtocols"
        case .invalidChunkSize: "invalidChunkSize"
        case .chunkSizeOverflow: "chunkSizeOverflow"
        case .invalidChunkExtension: "invalidChunkExtension"
        case .missingChunkEnd: "missingChunkEnd"
        case .closedBeforeResponse: "closedBeforeResponse"
        case .truncatedHead: "truncatedHead"
        case .truncatedContent(let received, let expected): "truncatedContent \(received)/\(expected)"
        case .truncatedChunks(let received): "truncatedChunks \(received)"
        case .truncatedUntilClose(let received): "truncatedUntilClose \(received)"
        case .invalidMethod: "invalidMethod"
        case .invalidTarget: "invalidTarget"
        case .invalidAuthority: "invalidAuthority"
        case .invalidRequestFieldName: "invalidRequestFieldName"
        case .invalidRequestFieldValue(let name): "invalidRequestFieldValue \(name)"
        case .fieldOwnedByLibrary(let name): "fieldOwnedByLibrary \(name)"
        case .fieldForbiddenInTrailers(let name): "fieldForbiddenInTrailers \(name)"
        case .outputTooSmall(let needed): "outputTooSmall \(needed)"
        @unknown default: "unknown"
        }
    }
}
