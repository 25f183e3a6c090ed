internal import DirectHTTP
internal import DirectCoding
internal import DirectCore
internal import DirectHTTP1
internal import DirectJSON

/// An entry of a HAR archive.
struct HAREntry {
    private let facts: HARRecord.Recorded
    private let redaction: Redaction

    init(_ facts: HARRecord.Recorded, redacting redaction: Redaction) {
        self.facts = facts
        self.redaction = redaction
    }

    var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("startedDateTime", .string(facts.started.isoText(milliseconds: facts.milliseconds))),
            ("time", .milliseconds(facts.duration ?? .zero)), ("request", request), ("response", response),
            ("cache", .object([:])), ("timings", timings),
        ]
        if let endpoint = facts.response?.transaction?.endpoint {
            members.append(("serverIPAddress", .string("\(endpoint.address)")))
            if let port = endpoint.port { members.append(("connection", .string("\(port)"))) }
        }
        if let failure = facts.failure { members.append(("_error", .string(failure))) }
        return .object(members: members)
    }

    private var request: JSONValue {
        let request = facts.request
        let url = try? request.url
        let shown = url.map(redaction.shown) ?? ""
        let items = (try? HTTPURL(shown))?.queryItems ?? []
        var members: [(String, JSONValue)] = [
            ("method", .string("\(request.method)")), ("url", .string(shown)),
            ("httpVersion", .string("HTTP/1.1")),
            ("cookies", cookies(request.headers.values(for: "Cookie"), separator: ";", field: "Cookie")),
            ("headers", .fields(redaction.shown(request.headers))),
            ("queryString", .pairs(items.map { ($0.name, $0.value ?? "") })),
        ]
        let bytes = request.body.bytesInMemory ?? []
        if !request.body.isNone, let shown = redaction.shown(body: bytes, of: request.headers) {
            members.append(("postData", postData(shown)))
        }
        members += [("headersSize", .number(-1)), ("bodySize", .number(bodySize))]
        return .object(members: members)
    }

    /// The length that the request announces; -1 if it announces none and has a body.
    private var bodySize: Int {
        let headers = facts.request.headers
        if let length = headers["Content-Length"].flatMap({ Int($0) }) { return length }
        return headers.contains("Transfer-Encoding") ? -1 : 0
    }

    /// HAR has no encoding for the bodies of requests, so bytes that are not text have a member of our own.
    private func postData(_ bytes: [UInt8]) -> JSONValue {
        let type = JSONValue.string(facts.request.headers["Content-Type"] ?? "")
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .object([
                "mimeType": type, "params": .array([]), "text": .string(Base64.encode(bytes)),
                "_encoding": .string("base64"),
            ])
        }
        return .object(["mimeType": type, "params": .array([]), "text": .string(text)])
    }

    private var response: JSONValue {
        guard let response = facts.response else {
            return .object([
                "status": .number(0), "statusText": .string(""), "httpVersion": .string(""),
                "cookies": .array([]),
                "headers": .array([]),
                "content": .object(["size": .number(0), "mimeType": .string("x-unknown")]),
                "redirectURL": .string(""), "headersSize": .number(-1), "bodySize": .number(-1),
            ])
        }
        let headers = redaction.shown(response.headers)
        return .object([
            "status": .number(Int(response.status.code)), "statusText": .string(response.reason),
            "httpVersion": .string("\(response.version)"),
            "cookies": cookies(
                response.headers.values(for: "Set-Cookie"),
                separator: nil,
                field: "Set-Cookie"
            ),
            "headers": .fields(headers), "content": content(of: response),
            "redirectURL": .string(headers["Location"] ?? ""), "headersSize": .number(-1),
            "bodySize": .number(facts.contentCount),
        ])
    }

    private func content(of response: Response) -> JSONValue {
        var members: [(String, JSONValue)] = []
        let plain = facts.isComplete ? facts.content.decoded(as: response.headers) : nil
        members.append(("size", .number(plain?.count ?? facts.contentCount)))
        members.append(("mimeType", .string(response.headers["Content-Type"] ?? "x-unknown")))
        if let plain, plain.count != facts.contentCount {
            members.append(("compression", .number(plain.count - facts.contentCount)))
        }
        guard facts.isComplete else {
            members += [("_isComplete", .bool(false)), ("comment", .string("not recorded to its end"))]
            return .object(members: members)
        }
        guard !redaction.hidesBodies else {
            return .object(members: members + [("comment", .string("left out"))])
        }
        guard let plain else {
            // Coded by a coding that is unknown here, or damaged.
            let coded: [(String, JSONValue)] = [
                ("text", .string(Base64.encode(facts.content))), ("encoding", .string("base64")),
                ("_isCoded", .bool(true)),
            ]
            return .object(members: members + coded)
        }
        let shown = redaction.shown(body: plain, of: response.headers) ?? []
        if let text = String(validating: shown, as: UTF8.self) {
            members.append(("text", .string(text)))
        } else {
            members += [("text", .string(Base64.encode(shown))), ("encoding", .string("base64"))]
        }
        return .object(members: members)
    }

    private var timings: JSONValue {
        guard let response = facts.response?.transaction else {
            let wait = facts.duration ?? .zero
            return .object(["send": .number(0), "wait": .milliseconds(wait), "receive": .number(0)])
        }
        let parts = [response.resolveTime, response.connectTime, response.tlsTime].compactMap { $0 }
        let handshakes = (response.connectTime ?? .zero) + (response.tlsTime ?? .zero)
        return .object([
            "blocked": .milliseconds(max(.zero, response.requestTime - parts.reduce(.zero, +))),
            "dns": response.resolveTime.map(JSONValue.milliseconds) ?? .number(-1),
            // HAR counts the handshake of TLS as a part of connecting, too.
            "connect": response.connectTime == nil ? .number(-1) : .milliseconds(handshakes),
            "ssl": response.tlsTime.map(JSONValue.milliseconds) ?? .number(-1), "send": .number(0),
            "wait": .milliseconds(max(.zero, response.responseTime - response.requestTime)),
            "receive": .milliseconds(max(.zero, (facts.duration ?? .zero) - response.responseTime)),
        ])
    }

    private func cookies(_ fields: [String], separator: Unicode.Scalar?, field: String) -> JSONValue {
        let isHidden = redaction.hides(field)
        // By scalars: a mark that combines with `=` or `;` would hide it.
        let fields = fields.map { Substring($0).unicodeScalars }
        let texts = separator.map { mark in fields.flatMap { $0.split(separator: mark) } } ?? fields
        return .pairs(
            texts.map { text in
                let pair = text.prefix { $0 != ";" }.drop { $0 == " " }
                // A cookie without `=` has a value and no name.
                let equals = pair.firstIndex(of: "=")
                let value = equals.map { pair[$0...].dropFirst() } ?? pair
                let name = equals.map { String(pair[..<$0]) } ?? ""
                return (name, isHidden ? SecretItems.mask : String(value))
            }
        )
    }
}

extension JSONValue {
    fileprivate static func pairs(_ pairs: [(String, String)]) -> JSONValue {
        .array(pairs.map { .object(["name": .string($0.0), "value": .string($0.1)]) })
    }

    fileprivate static func fields(_ headers: HTTPHeaders) -> JSONValue {
        .pairs(headers.map { ($0.name, $0.value) })
    }

    /// Milliseconds, with microseconds behind the point.
    fileprivate static func milliseconds(_ duration: Duration) -> JSONValue {
        let microseconds = duration.clampedNanoseconds / 1_000
        let digits = "\(microseconds % 1_000)"
        let fraction = String(repeating: "0", count: 3 - digits.count) + digits
        return .number(text: "\(microseconds / 1_000).\(fraction)")
    }
}

extension [UInt8] {
    /// Returns the content without its codings; `nil` if it cannot be decoded within the usual limits.
    fileprivate func decoded(as headers: HTTPHeaders) -> [UInt8]? {
        guard !isEmpty, headers.contains("Content-Encoding") else { return self }
        guard
            let codings = try? ContentCoding.chain(
                listedIn: headers.values(for: "Content-Encoding"),
                atMost: 5
            )
        else { return nil }
        guard !codings.isEmpty else { return self }
        let decoder = ContentDecoder(undoing: codings)
        var plain: [UInt8] = []
        var rest = self[...]
        while let step = try? decoder.next() {
            switch step {
            case .piece(let piece): plain += piece
            case .needsInput where rest.isEmpty: decoder.endInput()
            case .needsInput:
                decoder.feed(Array(rest.prefix(ContentDecoder.pieceSize)))
                rest = rest.dropFirst(ContentDecoder.pieceSize)
            case .unfinished: break
            case .end: return plain
            }
            guard plain.count <= 1 << 26 else { return nil }
        }
        return nil
    }
}

extension UnixTime {
    /// The time as ISO 8601 writes it, in UTC.
    fileprivate func isoText(milliseconds: Int) -> String {
        let (days, second) = (seconds / 86_400, Int(seconds % 86_400))
        let day = CivilDay(daysSince1970: days)
        func padded(_ number: Int, _ width: Int = 2) -> String {
            let digits = "\(number)"
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(padded(day.year, 4))-\(padded(day.month))-\(padded(day.day))T"
            + "\(padded(second / 3600)):\(padded(second / 60 % 60)):\(padded(second % 60)).\(padded(milliseconds, 3))Z"
    }
}
