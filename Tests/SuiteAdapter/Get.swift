import DirectHTTP

extension SuiteAdapter {
    /// One GET of an https URL at a given address, trusting only the certificates of a file. Returns when the
    /// whole response was received.
    static func get(_ arguments: [String]) async throws {
        let options = try GetOptions(arguments)
        let client = HTTPClient {
            $0.timeouts.total = .seconds(8)
            if let file = options.roots { $0.tls.roots = .only([.pemFile(file)]) }
        }
        var request = Request(.get, options.url)
        request.addresses = [options.endpoint]
        _ = try await client.fetch(request)
    }
}

private struct GetOptions {
    let url: String
    let endpoint: Endpoint
    let roots: String?

    init(_ arguments: [String]) throws {
        var words: [String] = []
        var values: [String: String] = [:]
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word.hasPrefix("--") { values[word] = rest.popFirst() } else { words.append(word) }
        }
        guard words.count == 1, let connect = values.removeValue(forKey: "--connect") else {
            throw UsageError("usage: suite-adapter get URL --connect ADDRESS:PORT [--cacert FILE]")
        }
        url = words[0]
        endpoint = try Endpoint(connect)
        roots = values.removeValue(forKey: "--cacert")
        guard values.isEmpty else { throw UsageError("unknown option \(values.keys.sorted()[0])") }
    }
}
