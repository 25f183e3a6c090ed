/// A JUnit report in XML, as continuous integration servers read it: a suite for each client and topic.
struct JUnitReport: Report {
    /// The version of the vectors.
    let vectors: String
    private var suites: [(name: String, rows: [Row])] = []

    init(vectors: String = "none") {
        self.vectors = vectors
    }

    mutating func add(_ row: Row) {
        let name = "\(row.client) \(row.head.topic.rawValue)"
        if suites.last?.name != name { suites.append((name: name, rows: [])) }
        suites[suites.count - 1].rows.append(row)
    }

    mutating func finish(_ score: Score) {
        Terminal.write(text)
    }

    /// The whole document.
    var text: String {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
        for suite in suites {
            var counts = Score()
            for row in suite.rows { counts.count(row) }
            text += "  <testsuite name=\"\(Self.escaped(suite.name))\" tests=\"\(suite.rows.count)\""
            text +=
                " failures=\"\(counts.failed - counts.known)\" skipped=\"\(counts.left + counts.known)\" errors=\"\(counts.broken)\">\n"
            text +=
                "    <properties><property name=\"vectors\" value=\"\(Self.escaped(vectors))\"/></properties>\n"
            for row in suite.rows { text += Self.element(row) }
            text += "  </testsuite>\n"
        }
        return text + "</testsuites>\n"
    }

    private static func element(_ row: Row) -> String {
        let place = "\(escaped(row.client)).\(row.head.topic.rawValue)"
        let seconds = "\(row.milliseconds / 1000).\("\(row.milliseconds % 1000 + 1000)".dropFirst())"
        let start =
            "    <testcase classname=\"\(place)\" name=\"\(escaped(row.head.name))\" time=\"\(seconds)\">"
            + "<properties><property name=\"right\" value=\"\(row.head.right.rawValue)\"/>"
            + "<property name=\"reference\" value=\"\(escaped(row.head.reference))\"/>"
            + "<property name=\"version\" value=\"\(escaped(row.version))\"/></properties"
        switch row.outcome {
        case .passed where row.tries > 1:
            return start + "><system-out>passed at try \(row.tries)</system-out></testcase>\n"
        case .passed: return start + "></testcase>\n"
        case .broken(let why):
            return start + "><error message=\"adapter failed: \(escaped(why))\"/></testcase>\n"
        case .failed(let differences) where row.differsByChoice:
            // Not a failure, so it is only noted.
            let lines = differences.map { "\($0.what): here \($0.expected), there \($0.got)" }
            return start + "><system-out>\(escaped(lines.joined(separator: "\n")))</system-out></testcase>\n"
        case .left(let why): return start + "><skipped message=\"\(escaped(why))\"/></testcase>\n"
        case .failed(let differences):
            let lines = row.lines(differences)
            let why = "why: \(row.head.why) (\(row.head.reference))"
            let words = row.words.isEmpty ? [] : ["the client says: \(row.words)"]
            let tries = row.tries > 1 ? ["tries: \(row.tries)"] : []
            let content = escaped((lines + [why] + words + tries).joined(separator: "\n"))
            let message = escaped(lines.first ?? "")
            // A view of failures is to show what is new.
            if row.isKnown {
                return start + ">\n      <skipped message=\"known to fail: \(message)\"/>\n"
                    + "      <system-out>\(content)</system-out>\n    </testcase>\n"
            }
            return start + ">\n      <failure message=\"\(message)\">\(content)</failure>\n    </testcase>\n"
        }
    }

    /// Escapes a text for XML 1.0, which has no way to write most control characters.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}":
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
