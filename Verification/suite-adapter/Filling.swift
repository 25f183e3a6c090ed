import DirectHTTP
import Foundation

extension SuiteAdapter {
    /// Keeps responses in that folder until it is killed, and prints a line for each: for the test that kills
    /// it at any moment.
    ///
    /// `https://a.test/N` has as content bytes that count up from N modulo 251, many or few.
    static func fill(_ folder: String) async throws {
        let cache = try ResponseCache.directory(folder, .init(bytes: 8 << 20, objectBytes: 2 << 20))
        let bytes = (0..<500_000).map { UInt8($0 % 251) }
        let client = HTTPClient {
            $0.cache = cache
            $0.transport = { request in
                let number = Int(try request.url.path.dropFirst()) ?? 0
                let count = [0, 100, 70_000, 400_000][Int.random(in: 0..<4)]
                let body = Array(bytes[number..<number + count])
                return try Response(to: request, .ok, headers: headers(number), body: body)
            }
        }
        while true {
            var request = Request(.get, "https://a.test/\(Int.random(in: 0..<40))")
            request.headers["Cache-Control"] = "no-cache"
            _ = try await client.fetch(request)
            try FileHandle.standardOutput.write(contentsOf: Data("\n".utf8))
        }
    }

    private static func headers(_ number: Int) -> HTTPHeaders {
        var headers: HTTPHeaders = ["Cache-Control": "max-age=100000"]
        if number % 5 == 0 { headers["Vary"] = "X-\(Int.random(in: 0..<3))" }
        return headers
    }
}
