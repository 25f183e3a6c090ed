internal import DirectCoding
internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Asks for coded content on behalf of a client, and decodes the responses.
final class ContentDecoding: Sendable {
    private let settings: DecodingSettings
    private let loop: EventLoop
    /// Whether the client's default fields have an `Accept-Encoding`: then the client's caller decodes the
    /// content.
    private let isManual: Bool
    private let fields: HTTPHeaders
    private let fieldsForRanges: HTTPHeaders

    init(_ settings: DecodingSettings, besides headers: HTTPHeaders, on loop: EventLoop) {
        self.settings = settings
        self.loop = loop
        isManual = headers.contains("Accept-Encoding")
        fieldsForRanges = headers
        var fields = headers
        if !isManual, let value = settings.acceptEncoding { fields.add("Accept-Encoding", value) }
        self.fields = fields
    }

    /// The client's default fields for requests that do not set them: with `Accept-Encoding`, unless the
    /// request asks for a range. That would be a range of the coded content (RFC 9110, section 14.2), which
    /// cannot be decoded.
    func fields(for request: Request) -> HTTPHeaders {
        request.headers.index(of: "range") == nil ? fields : fieldsForRanges
    }

    /// Lets the content of the response be decoded, if it is coded.
    ///
    /// Decoding happens when the body is read, and the response's fields stay as received.
    // Inlined: almost all responses need no more than this check.
    @inline(__always)
    func decode(_ response: inout Response, to request: Request, within limit: CallLimit) throws {
        if response.isCoded { try undo(&response, request: request, limit: limit) }
    }

    // An error of any type: the frame of the caller would be larger by a typed one.
    @inline(never)
    private func undo(_ response: inout Response, request: Request, limit: CallLimit) throws {
        let isCallers = isManual || request.headers.contains("Accept-Encoding")
        guard settings.isEnabled, !isCallers || request.isAlwaysDecoded, response.status != 206 else {
            response.body.coding = .left
            return
        }
        let place = BodyLocation(
            name: response.transaction?.name ?? (try? request.url.host.description),
            endpoint: response.transaction?.endpoint
        )
        let codings: [ContentCoding]?
        do throws(CodingError) {
            let values = response.headers.values(for: "Content-Encoding")
            codings = try ContentCoding.chain(listedIn: values, atMost: settings.maximumCodings)
        } catch {
            throw place.error(.coding(error))
        }
        guard let codings else {
            response.body.coding = .left
            return
        }
        if codings.isEmpty { return }
        let decoder = ContentDecoder(undoing: codings, within: settings.limits)
        let time = DecodingSource.Time(limit: limit, loop: loop)
        response.body = ResponseBody(decoding: response.body, with: decoder, at: place, within: time)
    }
}

extension Response {
    /// Whether the response may have coded content.
    var isCoded: Bool { headers.index(of: "content-encoding") != nil && body.mayHaveContent }
}

extension ResponseBody {
    fileprivate var mayHaveContent: Bool {
        switch content {
        case .complete(let bytes, _, _): !bytes.isEmpty
        case .arriving(let body): !(body.idleSource is UpgradedSource)
        }
    }

    fileprivate init(
        decoding body: ResponseBody,
        with decoder: ContentDecoder,
        at place: BodyLocation,
        within time: DecodingSource.Time
    ) {
        let source = DecodingSource(body.guarded, decoder, place, within: time)
        self.init(
            content: .arriving(GuardedBody(source)),
            coding: .undone(source.counts),
            request: body.request
        )
    }
}
