internal import DirectCoding
internal import DirectHTTP1

/// What a client asks for, and how it undoes what it gets.
struct ContentDecoding: Sendable {
    private let settings: DecodingSettings
    /// Whether the client's own fields ask for something: then the content is the caller's business.
    private let isManual: Bool

    init(_ settings: HTTPClient.Settings) {
        self.settings = settings.decoding
        isManual = settings.headers.contains("Accept-Encoding")
    }

    /// The value of the client's `Accept-Encoding`; nothing if the caller has his own, or there is nothing to ask for.
    var acceptEncoding: String? { isManual ? nil : settings.acceptEncoding }

    /// The response with its content decoded, if it is coded.
    ///
    /// Nothing is decoded before it is read, and the fields stay as they came.
    func decode(_ response: Response, to request: Request) throws(HTTPError) -> Response {
        guard response.headers.index(of: "content-encoding") != nil, response.body.mayHaveContent else {
            return response
        }
        var response = response
        guard settings.isEnabled, !isManual, !request.headers.contains("Accept-Encoding"),
            response.status != 206
        else {
            response.body.coding = .left
            return response
        }
        let place = DecodedBody.Place(
            name: response.url.host.description,
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
            return response
        }
        if codings.isEmpty { return response }
        let decoder = ContentDecoder(undoing: codings, within: settings.limits)
        response.body = ResponseBody(decoding: response.body, with: decoder, at: place)
        return response
    }
}

extension ResponseBody {
    fileprivate var mayHaveContent: Bool {
        if case .complete(let bytes, _, _) = content { !bytes.isEmpty } else { true }
    }

    fileprivate init(decoding body: ResponseBody, with decoder: ContentDecoder, at place: DecodedBody.Place) {
        let decoded =
            switch body.content {
            case .complete(let bytes, let trailers, _): DecodedBody(bytes, trailers, decoder, place)
            case .arriving(let pieces): DecodedBody(pieces, decoder, place)
            }
        self.init(content: .arriving(decoded), coding: .undone(by: decoded))
    }
}
