internal import CommandKit
internal import DirectJSON

/// The rows of `certificates.json` that can be served.
enum CertificateIndex {
    /// A certificate and the names it is tested with.
    struct Row: Decodable {
        private let file: String
        let about: String
        private let verdicts: [Verdict]

        private struct Verdict: Decodable {
            let name: String
            let client: String
            let openSSLClient: String?

            private enum CodingKeys: String, CodingKey { case name, client, openSSLClient = "s_client" }
        }

        var name: String { String(file.prefix(file.count - ".pem".count)) }
        /// The host names and addresses that the tests request it for. Client certificates are not served.
        var identities: [String] { verdicts.map(\.name).filter { $0 != "a client" } }
        /// The loopback address of the family of the first identity.
        var address: String { identities.first == "::1" ? "::1" : "127.0.0.1" }
    }

    /// Returns the rows with at least one server identity.
    static func rows(in folder: String) throws -> [Row] {
        let file = "\(folder)/certificates.json"
        do {
            let value = try JSONReader.read(try Files.contents(of: file))
            return try StrictDecoder.decode([Row].self, from: value).filter { !$0.identities.isEmpty }
        } catch let fault as JSONError {
            throw VectorError(file: file, line: fault.line, what: fault.what)
        } catch let fault as FieldError {
            throw VectorError(file: file, line: fault.line, what: fault.what)
        }
    }
}
