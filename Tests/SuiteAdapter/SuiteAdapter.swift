/// Puts the client behind the small command lines that harnesses of public test suites drive.
///
///     suite-adapter get URL --connect ADDRESS:PORT [--cacert FILE]
///     suite-adapter transfer [--lenient] < JOB
///     suite-adapter verify   < LINES
///     suite-adapter url      < LINES
///
/// Adapters for cookie dates, DNS messages and the cache come with the code that they are to judge.
@main
enum SuiteAdapter {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            switch arguments.first {
            case "get": try await get(Array(arguments.dropFirst()))
            case "transfer": try await transfer(lenient: arguments.contains("--lenient"))
            case "verify": try answerLines(verdict(on:))
            case "url": try answerLines(reading(of:))
            default: throw UsageError("usage: suite-adapter get|transfer|verify|url")
            }
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
