import DirectHTTP
import Foundation

extension SuiteAdapter {
    /// Makes the transfers of one job in turn, with one client, each at the job's address whatever its URL
    /// says.
    ///
    /// Keys that ask for what the client does not do (te, http09, http10, path_as_is) are not acted on.
    ///
    /// The suites were written for clients that overlook the faults of old servers, so ours does, unless it
    /// is to be `strict`, as it is by default.
    static func transfer(strict: Bool) async throws {
        let input = FileHandle.standardInput.readDataToEndOfFile()
        let job = try JSONDecoder().decode(Job.self, from: input)
        let endpoint = try Endpoint(job.connect)
        let jar = job.transfers.contains { $0.hasJar == true } ? CookieJar() : nil
        var everywhere = StaticMap()
        try everywhere.set([endpoint], for: .any)
        let client = HTTPClient { [everywhere] in
            $0.headers = [:]
            $0.decoding.isEnabled = job.transfers.contains { $0.decompress == true }
            $0.addresses = everywhere
            $0.cookies = jar
            if !strict { $0.leniency = .everything }
        }
        for step in job.transfers {
            step.prepare(jar)
            try await printLine(step.outcome(client))
        }
    }
}

/// The result of one transfer; with an error also the bytes that arrived before it.
struct Outcome: Encodable {
    var status = 0
    var headers: [[String]] = []
    var body = Data()
    var error: String?

    private enum CodingKeys: String, CodingKey {
        case status, headers, error
        case body = "body_b64"
    }
}

extension HTTP1Leniency {
    fileprivate static var everything: HTTP1Leniency {
        var leniency = HTTP1Leniency()
        leniency.acceptsBareLineFeeds = true
        leniency.acceptsDoubtfulFraming = true
        leniency.acceptsBareLineFeedsInChunks = true
        return leniency
    }
}
