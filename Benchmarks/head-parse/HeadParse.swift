// Parses one response head repeatedly: 700 bytes with 16 fields, typical of a large site. scripts/bench
// compiles this file against DirectHTTP1 alone, because the reader is visible inside the package only.
import DirectHTTP1
import Glibc

@main
enum HeadParse {
    static let head = """
        HTTP/1.1 200 OK
        Date: Tue, 21 Oct 2025 07:28:00 GMT
        Content-Type: text/html; charset=utf-8
        Content-Length: 48213
        Connection: keep-alive
        Server: example.com
        Cache-Control: private, max-age=0, must-revalidate
        Expires: Thu, 01 Jan 1970 00:00:00 GMT
        ETag: "5f2b1c7e9d3a4b6c8e0f1a2b3c4d5e6f"
        Vary: Accept-Encoding, Accept-Language, Cookie
        Last-Modified: Mon, 20 Oct 2025 18:11:42 GMT
        X-Content-Type-Options: nosniff
        X-Frame-Options: SAMEORIGIN
        Referrer-Policy: strict-origin-when-cross-origin
        Strict-Transport-Security: max-age=31536000; includeSubDomains
        Set-Cookie: session=0123456789abcdef0123456789abcdef; Path=/; Secure; HttpOnly
        X-Request-Id: 7c1e6a52-93a8-4f4e-b1a0-2d9c5e8f7a63


        """

    static func main() throws {
        guard let count = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }) else {
            print("usage: head-parse COUNT")
            exit(2)
        }
        let bytes = head.utf8.flatMap { $0 == 10 ? [13, 10] : [$0] }
        guard bytes.count == 700 else {
            print("the head has \(bytes.count) bytes")
            exit(1)
        }
        var reader = ResponseReader()
        try parse(bytes, times: 1000, &reader)
        let start = processorTime()
        try parse(bytes, times: count, &reader)
        print("units=\(count) cpu_us=\(processorTime() - start)")
    }

    @inline(never)
    static func parse(_ bytes: [UInt8], times: Int, _ reader: inout ResponseReader) throws {
        for _ in 0..<times {
            reader.begin(.get)
            let step = try reader.next(bytes.span)
            guard case .head(let head) = step.event, head.status == 200, step.used == bytes.count else {
                print("wrong head")
                exit(1)
            }
        }
    }

    static func processorTime() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000
            + Int(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
    }
}
