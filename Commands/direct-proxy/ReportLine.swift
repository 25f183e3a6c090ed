internal import DirectProxy

/// What a tunnel's report looks like as one line.
struct ReportLine {
    let report: TunnelReport
    /// How many such there were so far, if only some of them are told.
    var count = 1

    /// The line for people: what was dialled, and what came of it.
    var text: String {
        if case .refused(let status, let line) = report.ending {
            return "\(report.road.rawValue) refused \(status): \(line)" + Self.times(count)
        }
        var text = "\(report.road.rawValue) \(report.target ?? "-")"
        if let endpoint = report.endpoint { text += " at \(endpoint)" }
        if let source = report.source { text += " (\(source))" }
        if !report.failed.isEmpty {
            text += ", not at " + report.failed.map(\.description).joined(separator: ", ")
        }
        if let name = report.serverName { text += ", TLS for \(name)" }
        if !report.protocols.isEmpty { text += " (\(report.protocols.joined(separator: ", ")))" }
        return text
            + ": \(report.sent) bytes sent, \(report.received) received, \(ending) after \(milliseconds) ms"
    }

    /// The same as one object of JSON.
    var json: String {
        var text = "{\"road\":" + Self.quoted(report.road.rawValue)
        func add(_ name: String, as value: String) { text += ",\"" + name + "\":" + value }
        add("target", as: Self.value(report.target))
        add("address", as: Self.value(report.endpoint?.description))
        add("source", as: Self.value(report.source?.description))
        add("failed", as: Self.list(report.failed.map(\.description)))
        add("sni", as: Self.value(report.serverName))
        add("alpn", as: Self.list(report.protocols))
        add("ech", as: report.hasEncryptedHello ? "true" : "false")
        add("sent", as: String(report.sent))
        add("received", as: String(report.received))
        add("ms", as: String(milliseconds))
        add("ending", as: Self.quoted(ending))
        if case .refused(let status, let line) = report.ending {
            add("status", as: String(status))
            add("reason", as: Self.quoted(line))
            if count > 1 { add("count", as: String(count)) }
        }
        return text + "}"
    }

    /// How often it has happened, where that is not once.
    static func times(_ count: Int) -> String { count > 1 ? " (\(count) times so far)" : "" }

    private static func value(_ text: String?) -> String { text.map(quoted) ?? "null" }

    private static func list(_ texts: [String]) -> String {
        "[" + texts.map(quoted).joined(separator: ",") + "]"
    }

    private var ending: String {
        switch report.ending {
        case .complete: "complete"
        case .reset(byTarget: true): "broken off by the target"
        case .reset(byTarget: false): "broken off by the program"
        case .idle: "idle"
        case .stopped: "stopped"
        case .refused: "refused"
        @unknown default: "ended"
        }
    }

    private var milliseconds: Int64 {
        let (seconds, attoseconds) = report.time.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    /// A string of JSON. What is quoted came in part from a program.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
