internal import DirectJSON

/// The rows of `certificates.json` that can be served.
enum CertificateIndex {
    /// A certificate and the names it is tested with.
    struct Row {
        var name: String
        var about: String
        /// The host names and addresses that the tests request it for.
        var identities: [String]

        /// The loopback address of the family of the first identity.
        var address: String { identities.first == "::1" ? "::1" : "127.0.0.1" }
    }

    /// Returns the rows with at least one server identity.
    static func rows(in folder: String) throws -> [Row] {
        let file = "\(folder)/certificates.json"
        do {
            let value = try JSONReader.read(try Files.contents(of: file))
            return try Read.list(of: row)(value).filter { !$0.identities.isEmpty }
        } catch let fault as JSONError {
            throw VectorError(file: file, line: fault.line, what: fault.what)
        } catch let fault as FieldError {
            throw VectorError(file: file, line: fault.line, what: fault.what)
        }
    }

    private static func row(_ value: JSONValue) throws(FieldError) -> Row {
        var fields = try Fields(value)
        let file = try fields.required("file", read: Read.text)
        let about = try fields.required("about", read: Read.text)
        let identities = try fields.required("verdicts", read: Read.list(of: identity))
        try fields.end()
        // Client certificates are not served.
        let asked = identities.filter { $0 != "a client" }
        return Row(name: String(file.prefix(file.count - ".pem".count)), about: about, identities: asked)
    }

    private static func identity(_ value: JSONValue) throws(FieldError) -> String {
        var fields = try Fields(value)
        let name = try fields.required("name", read: Read.text)
        _ = try fields.required("client", read: Read.text)
        _ = try fields.optional("s_client", read: Read.text)
        try fields.end()
        return name
    }
}
