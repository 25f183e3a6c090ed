internal import DirectJSON

/// Makes a client of this process a program that speaks the contract: reads jobs from standard input and writes
/// results to standard output, a line each.
enum JobReader {
    /// Runs until the input ends. Returns the exit status: 0, or 2 if a line is not a job.
    static func run(_ client: some VectorClient) async -> Int32 {
        Terminal.write("\(client.facts.json)\n")
        while let line = await onThread({ readLine() }) {
            let id: Int
            let job: Job
            do {
                (id, job) = try Job.read(try JSONReader.read(Array(line.utf8)))
            } catch {
                Terminal.complain("tls-fixtures: this is not a job: \(error)")
                return 2
            }
            Terminal.write("\(await client.run(job).json(id: id))\n")
        }
        return 0
    }
}
