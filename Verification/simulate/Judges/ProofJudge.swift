internal import DirectCore
internal import DirectHTTP

/// Judges a call whose server shows it the certificate of a vector: no byte of its request is sent if that
/// does not prove the name.
struct ProofJudge {
    let world: World
    let number: Int
    let vector: NameVector

    /// `nil` for any other call.
    init?(_ world: World, number: Int) {
        guard let vector = world.plan.calls[number].proof.flatMap({ NameVector.all[$0] }) else { return nil }
        (self.world, self.number, self.vector) = (world, number, vector)
    }

    private func fault(_ words: String) { world.fault("proof", "call \(number), \(vector.name): \(words)") }

    /// Makes the request.
    func ask(_ client: HTTPClient) async throws {
        world.kernel.count("judge: proof of a name")
        do {
            let response = try await client.fetch(HTTPClient.Request(.get, vector.url))
            if !vector.isAccepted { fault("\(response.status.code)") }
        } catch let error as HTTPError {
            guard !vector.isAccepted, ErrorKind(error) == .certificate, error.phase == .tls else {
                throw error
            }
            if case .tls(.nameMismatch) = error.reason, vector.isWrongName { return }
            if vector.isWrongName { fault("\(error)") }
        }
    }

    /// Judges and answers the requests that arrive.
    func answer(_ http: HTTPWire) async throws(WireError) {
        while try await http.head() != nil {
            if !vector.isAccepted { fault("a request has arrived") }
            let name = (http.wire as? TLSWire)?.serverName
            if !vector.isNamed(name) { fault("the name is \(name ?? "missing")") }
            try await http.wire.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
        }
        await http.wire.close(politely: true)
    }
}
