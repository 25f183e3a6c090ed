internal import DirectJSON

/// Makes a client of this process a program that speaks the contract: reads jobs from standard input and
/// writes results to standard output, a line each.
enum JobReader {
    /// Runs until the input ends. Returns the exit status: 0, or 2 if a line is not a job.
    static func run(_ client: some VectorClient) async -> Int32 {
        Terminal.write("\(client.facts.json)\n")
        while let text = await onThread({ readLine() }) {
            let line: NumberedJob
            do {
                line = try StrictDecoder.decode(from: try JSONReader.read(Array(text.utf8)))
            } catch {
                Terminal.complain("tls-fixtures: this is not a job: \(error)")
                return 2
            }
            Terminal.write("\(await client.run(line.job).json(id: line.id))\n")
        }
        return 0
    }
}
