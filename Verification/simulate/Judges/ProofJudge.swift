internal import DirectCore
internal import DirectHTTP

/// Judges a call that is shown a vector's certificate: if that does not prove the name, nothing is sent.
struct ProofJudge {
    let world: World
    let number: Int
    let vector: NameVector

    /// `nil` for any other call.
    init?(_ world: World, number: Int) {
        guard let vector = world.plan.calls[number].proof.flatMap({ NameVector.all[$0] }) else { return nil }
        (self.world, self.number, self.vector) = (world, number, vector)
    }

    func fault(_ words: String) { world.fault("proof", "call \(number), \(vector.name): \(words)") }

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
}
