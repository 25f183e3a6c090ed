#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The output, 80 columns wide. Counts the claims that hold and those that do not.
final class Page {
    private let isColourful: Bool
    private var kept = 0
    private var broken = 0
    private var act = 0

    init() {
        isColourful = isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil
    }

    /// Writes the title and the list of servers.
    func open(_ stage: Stage) {
        write(
            """

            \(bold("direct-http")): verifies the name, connects to the address you choose

            This program has just made a certification authority and started servers
            inside itself, all on port \(stage.port):

              \(Stage.first)  certificates for red.test and amber.test
              \(Stage.second)  certificates for green.test and red.test
              \(Stage.impostor)  an impostor: one certificate, for the address \(Stage.impostor)
              \(Stage.dead)  no server: connections are refused

            These names exist in no DNS, and no resolver is asked.
            """
        )
    }

    /// Writes the heading of the next part, with the code it demonstrates.
    func act(_ title: String, code: String...) {
        act += 1
        write("\n\(bold("\(act). \(title)"))\n")
        for line in code { write("     \(dim(line))") }
        if !code.isEmpty { write() }
    }

    /// Writes an indented text.
    func note(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            write(line.isEmpty ? "" : "   \(line)")
        }
    }

    /// Writes the head of a table of responses.
    func answers() {
        write(
            "   "
                + dim(
                    Row("name", "address", sni: "saw SNI", host: "saw Host", "certificate", "response").text
                )
        )
    }

    /// Writes a row of the table.
    func answer(_ row: Row) {
        write("   " + row.text)
    }

    /// Checks a claim of the tour. A claim that does not hold is shown and counted, and makes the exit status
    /// 1.
    func promise(_ claim: String, _ isKept: Bool, _ otherwise: @autoclosure () -> String = "") {
        if isKept {
            kept += 1
        } else {
            broken += 1
            write("   \(red("✗ failed:")) \(claim) \(otherwise())")
        }
    }

    /// Checks a claim and shows it even if it holds.
    func shown(_ claim: String, _ isKept: Bool, _ otherwise: @autoclosure () -> String = "") {
        promise(claim, isKept, otherwise())
        if isKept { write("   \(green("✓")) \(claim)") }
    }

    /// Writes the summary and exits, with 0 if all claims hold.
    func close() -> Never {
        if broken == 0 {
            write("\n\(green("✓")) \(bold("Everything works as claimed")): \(kept) claims checked.\n")
        } else {
            write("\n\(red("✗")) \(bold("\(broken) of \(kept + broken) claims do not hold."))\n")
        }
        exit(broken == 0 ? 0 : 1)
    }

    /// Writes a line and flushes it, so that it is visible immediately even through a pipe.
    private func write(_ text: String = "") {
        print(text)
        fflush(nil)
    }

    private func bold(_ text: String) -> String { styled(text, 1) }
    private func dim(_ text: String) -> String { styled(text, 2) }
    private func red(_ text: String) -> String { styled(text, 31) }
    private func green(_ text: String) -> String { styled(text, 32) }

    private func styled(_ text: String, _ style: Int) -> String {
        isColourful ? "\u{1B}[\(style)m\(text)\u{1B}[0m" : text
    }
}

/// One row of the table: the request, what the server saw of it, and the response.
struct Row {
    let text: String

    init(
        _ name: String,
        _ address: String,
        sni: String,
        host: String,
        _ certificate: String,
        _ answer: String
    ) {
        let cells = [(name, 10), (address, 9), (sni, 10), (host, 16), (certificate, 11)]
        text = cells.map { $0 + String(repeating: " ", count: max(1, $1 + 1 - $0.count)) }.joined() + answer
    }
}

extension Duration {
    /// The duration in short form, such as "2.4 ms" or "87 µs".
    var short: String {
        let microseconds = Int(self / .microseconds(1))
        guard microseconds >= 1000 else { return "\(microseconds) µs" }
        let tenths = (microseconds + 50) / 100
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
