import DirectJSON

@testable import SNIProbe

/// Checks the structure of a log in SARIF. Each rule names its section in the standard: OASIS, Static
/// Analysis Results Interchange Format (SARIF) Version 2.1.0, 27 March 2020.
struct SARIFCheck {
    private(set) var faults: [String] = []

    init(_ log: JSONValue) {
        known(log, ["$schema", "version", "runs"], "§3.13")
        require(log["version"]?.text == "2.1.0", "§3.13.2 version")
        require(log["$schema"]?.text?.hasPrefix("https://") == true, "§3.13.3 $schema")
        require(log["runs"]?.elements?.isEmpty == false, "§3.13.4 runs")
        for run in log["runs"]?.elements ?? [] { check(run: run) }
    }

    private mutating func check(run: JSONValue) {
        known(run, ["tool", "columnKind", "results", "invocations"], "§3.14")
        require(run["tool"] != nil, "§3.14.6 tool")
        let driver = run["tool"]?["driver"]
        require(driver != nil, "§3.18.2 driver")
        require(driver?["name"]?.text?.isEmpty == false, "§3.19 name")
        let rules = driver?["rules"]?.elements ?? []
        let names = rules.map { $0["id"]?.text ?? "" }
        require(Set(names).count == names.count && !names.contains(""), "§3.19.23 rules, §3.49.3 id")
        for rule in rules {
            known(rule, ["id", "shortDescription", "defaultConfiguration"], "§3.49")
            check(message: rule["shortDescription"], "§3.49 shortDescription")
            check(level: rule["defaultConfiguration"]?["level"], "§3.50 level")
        }
        require(run["columnKind"]?.text == "unicodeCodePoints", "§3.14 columnKind")
        require(run["results"]?.elements != nil, "§3.14.23 results")
        for result in run["results"]?.elements ?? [] { check(result: result, rules: names) }
        require(run["invocations"]?.elements?.count == 1, "§3.14.11 invocations")
        for invocation in run["invocations"]?.elements ?? [] {
            known(invocation, ["executionSuccessful", "startTimeUtc", "endTimeUtc"], "§3.20")
            require(invocation["executionSuccessful"]?.flag != nil, "§3.20 executionSuccessful")
            for key in ["startTimeUtc", "endTimeUtc"] {
                guard let time = invocation[key] else { continue }
                require(time.text.flatMap(UTC.seconds) != nil, "§3.9 \(key)")
            }
        }
    }

    private mutating func check(result: JSONValue, rules: [String]) {
        let members: Set = ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"]
        known(result, members, "§3.27")
        require(result["ruleId"]?.text?.isEmpty == false, "§3.27.5 ruleId")
        if let index = result["ruleIndex"] {
            let place = index.number ?? -1
            let isRight = rules.indices.contains(place) && rules[place] == result["ruleId"]?.text
            require(isRight, "§3.27.6 ruleIndex")
        }
        check(level: result["level"], "§3.27.10 level")
        check(message: result["message"], "§3.27.11 message")
        require(result["locations"]?.elements?.count == 1, "§3.27.12 locations")
        for location in result["locations"]?.elements ?? [] { check(location: location) }
        guard case .object(let prints)? = result["partialFingerprints"]?.content else {
            return require(false, "§3.27.17 partialFingerprints")
        }
        require(prints.allSatisfy { $0.value.text?.isEmpty == false }, "§3.27.17 partialFingerprints")
    }

    private mutating func check(location: JSONValue) {
        known(location, ["physicalLocation", "logicalLocations"], "§3.28")
        if let place = location["physicalLocation"] {
            known(place, ["artifactLocation", "region"], "§3.29")
            let uri = place["artifactLocation"]?["uri"]?.text ?? " "
            // RFC 3986: no other characters, and each percent sign begins an octet.
            let isReference = uri.wholeMatch(of: /([A-Za-z0-9\/._~:-]|%[0-9A-F]{2})+/) != nil
            require(isReference, "§3.29.3 artifactLocation, §3.4 uri")
            require((place["region"]?["startLine"]?.number ?? 0) > 0, "§3.29.4 region, §3.30 startLine")
        }
        for logical in location["logicalLocations"]?.elements ?? [] {
            known(logical, ["fullyQualifiedName", "kind"], "§3.33")
            require(logical["fullyQualifiedName"]?.text?.isEmpty == false, "§3.33.5 fullyQualifiedName")
            require(logical["kind"]?.text == "resource", "§3.33.7 kind")
        }
        require(location["logicalLocations"]?.elements?.isEmpty == false, "§3.28.4 logicalLocations")
    }

    private mutating func check(message: JSONValue?, _ rule: String) {
        require(message?["text"]?.text?.isEmpty == false, "\(rule), §3.11 text")
    }

    private mutating func check(level: JSONValue?, _ rule: String) {
        require(["none", "note", "warning", "error"].contains(level?.text ?? ""), rule)
    }

    /// The schema of the standard forbids other members.
    private mutating func known(_ value: JSONValue, _ names: Set<String>, _ rule: String) {
        guard case .object(let members) = value.content else { return require(false, "\(rule) object") }
        for member in members where !names.contains(member.name) { require(false, "\(rule) \(member.name)") }
    }

    private mutating func require(_ condition: Bool, _ rule: String) {
        if !condition { faults.append(rule) }
    }
}
