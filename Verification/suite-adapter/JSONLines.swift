import Foundation

/// Answers each line of the standard input with one line, in the same order.
func answerLines<Question: Decodable, Answer: Encodable>(_ answer: (Question) throws -> Answer) throws {
    let decoder = JSONDecoder()
    while let line = readLine() {
        guard !line.isEmpty else { continue }
        let question: Question
        do {
            question = try decoder.decode(Question.self, from: Data(line.utf8))
        } catch {
            throw UsageError("not a question: \(line.prefix(200)): \(error)")
        }
        try printLine(answer(question))
    }
}

func printLine(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    try FileHandle.standardOutput.write(contentsOf: encoder.encode(value) + [UInt8(ascii: "\n")])
}

func fail(_ text: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
    exit(status)
}
