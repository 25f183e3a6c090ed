internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The rest of a representation, as a download asks for it.
struct WantedRest: Equatable, Sendable {
    var representation: Representation
    let validator: StrongValidator
    /// The position of the first byte.
    let start: UInt64
    /// Whether the digest of the whole is checked at the end. Then parts from different URLs may be joined:
    /// signed URLs differ with every redirect.
    var isVerified = false

    /// `nil` if there is nothing to continue, nothing that identifies its version, or parts from different
    /// URLs that nothing will verify.
    init?(_ representation: Representation?, from start: UInt64, isVerified: Bool) {
        guard start > 0, let representation, let validator = representation.validator,
            isVerified || !representation.isJoined
        else { return nil }
        self.representation = representation
        self.validator = validator
        self.start = start
        self.isVerified = isVerified
    }
}

/// The use that a download has for a response. A pure value: it knows no file and no connection.
enum PartJudgement: Equatable, Sendable {
    /// The body is the whole content.
    case whole(Representation)
    /// The body is the content up to `end`, exclusively.
    case rest(Representation, end: UInt64)
    /// The body cannot be used, and the download has to begin anew.
    case useless(DownloadError.Restart)
    /// The status is not one that a download can use.
    case status
    /// The content is coded.
    case coded

    /// Judges the response to a request for the whole content, or for `wanted`.
    ///
    /// - Parameter identity: what the server is known by if it has not proved to be the URL's host.
    init(
        _ head: ResponseHead,
        from url: HTTPURL,
        identity: String? = nil,
        bodyLength: UInt64?,
        wanted: WantedRest?
    ) {
        switch head.status {
        case .ok where head.headers.hasCodedContent: self = .coded
        case .ok:
            let validator = StrongValidator(head.headers)
            self = .whole(
                Representation(url: url, identity: identity, validator: validator, length: bodyLength)
            )
        case .partialContent:
            guard let wanted else {
                self = .useless(.unexpectedPart)
                return
            }
            guard wanted.representation.identity == identity else {
                self = .useless(.otherIdentity)
                return
            }
            self = Self.part(head.headers, from: url, bodyLength: bodyLength, wanted: wanted)
        case 416 where wanted != nil: self = .useless(.noSuchRange)
        default: self = .status
        }
    }

    private static func part(
        _ headers: HTTPHeaders,
        from url: HTTPURL,
        bodyLength: UInt64?,
        wanted: WantedRest
    ) -> PartJudgement {
        var whole = wanted.representation
        if headers.isMultipart { return .useless(.severalRanges) }
        guard wanted.joins(url) else { return .useless(.otherURL) }
        guard wanted.validator.isMeant(by: headers) else { return .useless(.otherVersion) }
        if headers.hasCodedContent { return .useless(.coded) }
        let ranges = headers.values(for: "Content-Range")
        guard ranges.count == 1, case .part(wanted.start, let last, let length?) = ContentRange(ranges[0]),
            bodyLength.map({ $0 == last - wanted.start + 1 }) ?? true
        else { return .useless(.otherRange) }
        guard whole.length.map({ $0 == length }) ?? true else { return .useless(.otherLength) }
        whole.length = length
        whole.isJoined = whole.isJoined || whole.url != url
        whole.url = url
        return .rest(whole, end: last + 1)
    }
}

extension WantedRest {
    /// Whether a part from this URL may belong to the same representation. A date says too little for parts
    /// from different URLs.
    fileprivate func joins(_ url: HTTPURL) -> Bool {
        if url == representation.url { return true }
        guard isVerified, case .entityTag = validator else { return false }
        return true
    }
}

extension HTTPHeaders {
    fileprivate var isMultipart: Bool {
        self["Content-Type"]?.lowercased().hasPrefix("multipart/byteranges") ?? false
    }
}
