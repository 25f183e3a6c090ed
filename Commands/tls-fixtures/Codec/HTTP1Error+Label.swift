internal import DirectHTTP1

extension HTTP1Error {
    /// The case's name with its values, as the vectors write it.
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
        case .unsupportedTransferCoding: "unsupportedTransferCoding"
        case .transferEncodingWithContentLength: "transferEncodingWithContentLength"
        case .transferEncodingInHTTP10: "transferEncodingInHTTP10"
        case .unsolicitedSwitchingProtocols: "unsolicitedSwitchingProtocols"
        case .invalidChunkSize: "invalidChunkSize"
        case .chunkSizeOverflow: "chunkSizeOverflow"
        case .invalidChunkExtension: "invalidChunkExtension"
        case .missingChunkEnd: "missingChunkEnd"
        case .responseBeforeRequest: "response-before-request"
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
        case .contentInTrace: "contentInTrace"
        case .outputTooSmall(let needed): "outputTooSmall \(needed)"
        @unknown default: "unknown"
        }
    }
}

extension ResponseFraming {
    /// The framing as the vectors write it.
    var label: String {
        switch self {
        case .none: "none"
        case .length(let length): "length \(length)"
        case .chunked: "chunked"
        case .untilClose: "untilClose"
        case .tunnel: "tunnel"
        }
    }
}

extension ReuseVerdict {
    /// The verdict as the vectors write it.
    var label: String {
        switch self {
        case .reusable: "reusable"
        case .close(let reason): reason.rawValue
        }
    }
}
