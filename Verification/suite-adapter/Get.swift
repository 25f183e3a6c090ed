import DirectHTTP

extension SuiteAdapter {
    /// One GET of an https URL at a given address, trusting only the certificates of a file. Returns when the
    /// whole response was received.
    static func get(_ options: GetOptions) async throws {
        let client = HTTPClient {
            $0.timeouts.total = .seconds(8)
            $0.tls.certificateRules = options.rules
            if let file = options.roots { $0.tls.roots = .only([.pemFile(file)]) }
        }
        var request = Request(.get, options.url)
        request.addresses = [options.endpoint]
        _ = try await client.fetch(request)
    }
}

struct GetOptions {
    let url: String
    let endpoint: Endpoint
    let roots: String?
    let rules: CertificateRules

    init(_ words: ArraySlice<String>) throws {
        var arguments = try Arguments(words)
        guard let connect = arguments.take("--connect"), arguments.words.count == 1 else {
            throw UsageError("usage: suite-adapter get URL --connect ADDRESS:PORT [--cacert FILE]")
        }
        url = arguments.words[0]
        endpoint = try Endpoint(connect)
        roots = arguments.take("--cacert")
        rules = try arguments.takeRules()
        try arguments.finish()
    }
}
