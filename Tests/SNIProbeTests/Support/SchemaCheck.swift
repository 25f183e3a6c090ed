import DirectJSON

@testable import SNIProbe

/// Checks a value against a JSON schema, as far as docs/sni-probe.schema.json uses the language (JSON Schema
/// 2020-12).
///
/// It is stricter than the standard in one point: a member that the schema does not name is a fault.
struct SchemaCheck {
    private let root: JSONValue
    private(set) var faults: [String] = []

    init(_ value: JSONValue, schema: JSONValue) {
        root = schema
        check(value, against: schema, at: "")
    }

    /// Keywords that say nothing about a value.
    private static let remarks: Set = ["$schema", "$defs", "title", "description"]

    private mutating func check(_ value: JSONValue, against schema: JSONValue, at path: String) {
        guard case .object(let keywords) = schema.content else {
            return fail(path, "the schema is no object")
        }
        for keyword in keywords {
            let argument = keyword.value
            switch keyword.name {
            case "type": check(type: argument, of: value, at: path)
            case "const": if value.content != argument.content { fail(path, "is not \(argument)") }
            case "enum":
                let allowed = argument.elements ?? []
                if !allowed.contains(where: { $0.content == value.content }) {
                    fail(path, "\(value) is not one of them")
                }
            case "pattern":
                guard let text = value.text, let pattern = argument.text.flatMap({ try? Regex($0) }) else {
                    continue
                }
                if text.firstMatch(of: pattern) == nil { fail(path, "\(value) does not match") }
            case "minimum", "maximum":
                guard let number = value.decimal, let limit = argument.decimal else { continue }
                if keyword.name == "minimum" ? number < limit : number > limit {
                    fail(path, "\(value) is outside")
                }
            case "required":
                guard case .object = value.content else { continue }
                for name in argument.elements?.compactMap(\.text) ?? [] where value[name] == nil {
                    fail(path, "\(name) is missing")
                }
            case "properties":
                check(members: argument, others: schema["additionalProperties"], of: value, at: path)
            case "additionalProperties":
                guard schema["properties"] == nil else { continue }
                check(members: .object(members: []), others: argument, of: value, at: path)
            case "items":
                for (index, element) in (value.elements ?? []).enumerated() {
                    check(element, against: argument, at: "\(path)[\(index)]")
                }
            case "anyOf":
                let fits = (argument.elements ?? []).contains { faults(of: value, schema: $0).isEmpty }
                if !fits { fail(path, "\(value) fits none") }
            case "$ref":
                let name = argument.text?.split(separator: "/").last.map(String.init) ?? ""
                guard let target = root["$defs"]?[name] else { return fail(path, "no \(name)") }
                check(value, against: target, at: path)
            case let name where Self.remarks.contains(name): continue
            // A keyword that is not checked would be a promise that no test holds.
            default: fail(path, "the keyword \(keyword.name) is not known")
            }
        }
    }

    private func faults(of value: JSONValue, schema: JSONValue) -> [String] {
        var other = self
        other.faults = []
        other.check(value, against: schema, at: "")
        return other.faults
    }

    private mutating func check(type: JSONValue, of value: JSONValue, at path: String) {
        let names = type.elements?.compactMap(\.text) ?? [type.text ?? ""]
        let fits = names.contains { name in
            switch (name, value.content) {
            case ("null", .null), ("boolean", .bool), ("string", .string), ("array", .array),
                ("object", .object),
                ("number", .number):
                true
            case ("integer", .number): value.number != nil
            default: false
            }
        }
        if !fits { fail(path, "\(value.kind) is not of the type \(names)") }
    }

    private mutating func check(
        members schemas: JSONValue,
        others: JSONValue?,
        of value: JSONValue,
        at path: String
    ) {
        guard case .object(let members) = value.content else { return }
        for member in members {
            if let schema = schemas[member.name] ?? others {
                check(member.value, against: schema, at: "\(path).\(member.name)")
            } else {
                fail(path, "\(member.name) is not in the schema")
            }
        }
    }

    private mutating func fail(_ path: String, _ what: String) {
        faults.append("\(path.isEmpty ? "the line" : path): \(what)")
    }
}

extension JSONValue {
    fileprivate var decimal: Double? {
        if case .number(let text) = content { Double(text) } else { nil }
    }
}
