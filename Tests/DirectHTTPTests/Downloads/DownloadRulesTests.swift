@testable import DirectCore
import Testing

@testable import DirectHTTP

@Suite("The rules of downloads")
struct DownloadRulesTests {
    private let url: HTTPURL
    private let other: HTTPURL

    init() throws {
        url = try HTTPURL("https://a.test/film")
        other = try HTTPURL("https://b.test/film")
    }

    @Test(
        "A Content-Range is one range of bytes within the length, or none",
        arguments: [
            ("bytes 0-0/1", ContentRange.part(first: 0, last: 0, of: 1)),
            ("Bytes 5-9/10", .part(first: 5, last: 9, of: 10)),
            ("bytes 5-9/*", .part(first: 5, last: 9, of: nil)),
            ("bytes */10", ContentRange.none(of: 10)),
            ("bytes */*", nil), ("bytes 9-5/10", nil), ("bytes 5-10/10", nil), ("bytes 5-9", nil),
            ("bytes -5/10", nil), ("bytes 5-/10", nil), ("items 0-0/1", nil), ("bytes=0-0/1", nil),
            ("bytes 0-0/1/1", nil), ("bytes 0--1/5", nil), ("bytes +0-+1/5", nil), ("bytes 0-0/+5", nil),
            ("bytes 0-18446744073709551616/18446744073709551617", nil), ("bytes ", nil), ("", nil),
            ("bytes  0-0/1", nil), ("bytes 0-0/", nil), ("bytes /", nil),
        ] as [(String, ContentRange?)]
    )
    func contentRange(text: String, expected: ContentRange?) {
        #expect(ContentRange(text) == expected)
    }

    @Test("Only a strong entity tag, or a date well before the response, identifies a version")
    func validators() {
        let (old, now) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT")
        let expected: [(HTTPHeaders, StrongValidator?)] = [
            (["ETag": "\"a\""], .entityTag("\"a\"")), (["ETag": "\"\""], .entityTag("\"\"")),
            (["ETag": "W/\"a\""], nil), (["ETag": "a"], nil), (["ETag": "\"a\"b\""], nil),
            (["ETag": "\""], nil),
            (["ETag": "\"a b\""], nil), (["ETag": "\"é\""], nil),
            (["Last-Modified": old, "Date": now], .date(old)),
            (["Last-Modified": old, "Date": "Sun, 06 Nov 1994 08:50:36 GMT"], nil),
            (["Last-Modified": old], nil), (["Last-Modified": "yesterday", "Date": now], nil),
            // A client that has an entity tag must not use the date.
            (["ETag": "W/\"a\"", "Last-Modified": old, "Date": now], nil),
            (["ETag": "\"a\"", "Last-Modified": old, "Date": now], .entityTag("\"a\"")),
            ([:], nil),
        ]
        for (headers, validator) in expected { #expect(StrongValidator(headers) == validator, "\(headers)") }
        var twice: HTTPHeaders = ["ETag": "\"a\""]
        twice.add("ETag", "\"b\"")
        #expect(StrongValidator(twice) == nil)
    }

    private func judge(
        _ status: HTTPStatus,
        _ headers: HTTPHeaders,
        from url: HTTPURL? = nil,
        bodyLength: UInt64? = nil,
        _ validator: StrongValidator = .entityTag("\"1\""),
        length: UInt64? = 100,
        isVerified: Bool = false
    ) -> PartJudgement {
        let whole = Representation(url: self.url, validator: validator, length: length)
        return PartJudgement(
            ResponseHead(status: status, headers: headers),
            from: url ?? self.url,
            bodyLength: bodyLength,
            wanted: WantedRest(whole, from: 40, isVerified: isVerified)
        )
    }

    private let good: HTTPHeaders = ["ETag": "\"1\"", "Content-Range": "bytes 40-99/100"]

    @Test("A part is used if it begins where the file ends and has the same validator, URL and total length")
    func parts() {
        let whole = Representation(url: url, validator: .entityTag("\"1\""), length: 100)
        #expect(judge(206, good) == .rest(whole, end: 100))
        #expect(judge(206, good, bodyLength: 60, length: nil) == .rest(whole, end: 100))
        var shorter = good
        shorter["Content-Range"] = "bytes 40-59/100"
        #expect(judge(206, shorter, bodyLength: 20) == .rest(whole, end: 60))
        #expect(judge(206, good, bodyLength: 59) == .useless(.otherRange))
        #expect(judge(206, good, length: 101) == .useless(.otherLength))
        #expect(judge(206, good, from: other) == .useless(.otherURL))
        for value in [nil, "bytes 39-99/100", "bytes 41-99/100", "bytes 40-99/*", "bytes */100"] {
            var headers = good
            headers["Content-Range"] = value
            #expect(judge(206, headers) == .useless(.otherRange), "\(value ?? "none")")
        }
        for tag in [nil, "\"2\"", "W/\"1\""] {
            var headers = good
            headers["ETag"] = tag
            #expect(judge(206, headers) == .useless(.otherVersion), "\(tag ?? "none")")
        }
        var several = good
        several["Content-Type"] = "Multipart/ByteRanges; boundary=x"
        #expect(judge(206, several) == .useless(.severalRanges))
        var coded = good
        coded["Content-Encoding"] = "identity, gzip"
        #expect(judge(206, coded) == .useless(.coded))
        #expect(judge(416, ["Content-Range": "bytes */40"]) == .useless(.noSuchRange))
    }

    @Test("A part from another URL is used only if the digest of the whole is checked, and not by a date")
    func otherURL() {
        var moved = Representation(url: other, validator: .entityTag("\"1\""), length: 100)
        moved.isJoined = true
        #expect(WantedRest(moved, from: 40, isVerified: false) == nil)
        #expect(judge(206, good, from: other, isVerified: true) == .rest(moved, end: 100))
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let headers: HTTPHeaders = ["Last-Modified": date, "Content-Range": "bytes 40-99/100"]
        #expect(judge(206, headers, from: other, .date(date), isVerified: true) == .useless(.otherURL))
    }

    @Test(
        "A part that is asked for by date may leave the date out, but may not have another one or an entity tag"
    )
    func dates() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let whole = Representation(url: url, validator: .date(date), length: 100)
        var headers: HTTPHeaders = ["Content-Range": "bytes 40-99/100"]
        #expect(judge(206, headers, .date(date)) == .rest(whole, end: 100))
        headers["Last-Modified"] = date
        #expect(judge(206, headers, .date(date)) == .rest(whole, end: 100))
        headers["Last-Modified"] = "Sun, 06 Nov 1994 08:49:38 GMT"
        #expect(judge(206, headers, .date(date)) == .useless(.otherVersion))
        #expect(judge(206, good, .date(date)) == .useless(.otherVersion))
    }

    @Test("A whole content begins the file anew, unless it is coded; other statuses are no content")
    func whole() {
        let new = Representation(url: other, validator: .entityTag("\"2\""), length: 7)
        #expect(judge(200, ["ETag": "\"2\""], from: other, bodyLength: 7) == .whole(new))
        #expect(judge(200, ["Content-Encoding": "gzip"]) == .coded)
        #expect(judge(200, ["Content-Encoding": " Identity "]) == .whole(Representation(url: url)))
        for status: HTTPStatus in [201, 203, 204, 304, 404, 500] { #expect(judge(status, [:]) == .status) }
        let head = ResponseHead(status: 206, headers: good)
        let unasked = PartJudgement(head, from: url, bodyLength: nil, wanted: nil)
        #expect(unasked == .useless(.unexpectedPart))
        let refused = ResponseHead(status: 416, headers: [:])
        #expect(PartJudgement(refused, from: url, bodyLength: nil, wanted: nil) == .status)
    }

    @Test("A record is read back as it was written, and not if any byte differs or is missing")
    func record() throws {
        let digest = [UInt8](repeating: 0xAB, count: 32)
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        for (validator, length, identity, isJoined) in [
            (StrongValidator?.some(.entityTag("\"a\"")), UInt64?.some(9), String?.none, false),
            (.date(date), nil, "key", false), (.entityTag("\"a\""), 9, nil, true),
            (.entityTag("\"a\""), nil, "key", true), (nil, 9, nil, false),
        ] {
            let whole = Representation(
                url: url,
                identity: identity,
                validator: validator,
                length: length,
                isJoined: isJoined
            )
            let record = try #require(DownloadRecord(whole, savedBytes: 9, digest: digest))
            let bytes = try #require(record.bytes)
            #expect(DownloadRecord(parsing: bytes) == record)
            for index in bytes.indices {
                #expect(DownloadRecord(parsing: Array(bytes[..<index])) == nil)
                var wrong = bytes
                wrong[index] ^= 1
                #expect(DownloadRecord(parsing: wrong) == nil)
            }
            #expect(DownloadRecord(parsing: bytes + [10]) == nil)
        }
        #expect(DownloadRecord(Representation(url: url), savedBytes: 9, digest: []) == nil)
        let short = Representation(url: url, validator: .entityTag("\"a\""), length: 8)
        let impossible = try #require(DownloadRecord(short, savedBytes: 9, digest: digest)?.bytes)
        #expect(DownloadRecord(parsing: impossible) == nil)
    }
}
