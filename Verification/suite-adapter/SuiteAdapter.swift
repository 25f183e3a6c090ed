import CommandKit

/// Puts the client behind the small command lines that harnesses of public test suites drive.
///
///     suite-adapter get URL --connect ADDRESS:PORT [--cacert FILE] [--rules RULES]
///     suite-adapter transfer [--strict] < JOB
///     suite-adapter verify [--rules RULES] < LINES
///     suite-adapter url < LINES
///     suite-adapter date < LINES
///     suite-adapter dns < LINES
///     suite-adapter cache [--folder FOLDER] [--tests FILE] < LINES
///     suite-adapter fill FOLDER
@main
enum SuiteAdapter {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        let rest = words.dropFirst()
        do {
            switch words.first {
            case "get":
                try await get(GetOptions(rest))
            case "transfer":
                var arguments = try Arguments(rest, flags: ["--strict"])
                let isStrict = arguments.take("--strict") != nil
                try arguments.finish()
                try await transfer(strict: isStrict)
            case "verify":
                var arguments = try Arguments(rest)
                let judge = try ChainJudge(rules: arguments.takeRules())
                try arguments.finish()
                try answerLines(judge.verdict(on:))
            case "url":
                try answerLines { (question: URLQuestion) in reading(of: question) }
            case "date":
                try answerLines { (question: DateQuestion) in reading(of: question) }
            case "dns":
                try answerLines { (message: DNSCase) in try reading(of: message) }
            case "cache":
                var arguments = try Arguments(rest)
                let (folder, tests) = (arguments.take("--folder"), arguments.take("--tests"))
                try arguments.finish()
                try await cache(in: folder, tests: tests)
            case "fill":
                let arguments = try Arguments(rest)
                guard let folder = arguments.words.first else { throw UsageError("fill needs a folder") }
                try arguments.finish()
                try await fill(folder)
            default:
                throw UsageError("usage: suite-adapter get|transfer|verify|url|date|dns|cache|fill")
            }
        } catch let error as ArgumentReader.Fault {
            fail(error.what, status: 2)
        } catch let error as UsageError {
            fail(error.text, status: 2)
        } catch {
            fail("\(error)", status: 1)
        }
    }
}

/// The command line or the job makes no sense: the harness is at fault, not what is judged.
struct UsageError: Error {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}
