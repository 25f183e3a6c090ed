internal import DirectJSON

/// A value of JSON. What is missing in an object is null.
@dynamicMemberLookup
enum JSON: Codable, Equatable {
    case null
    case truth(Bool)
    case number(Int)
    case text(String)
    case list([JSON])
    case members([String: JSON])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let truth = try? value.decode(Bool.self) {
            self = .truth(truth)
        } else if let number = try? value.decode(Int.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let number = try? value.decode(Double.self) {
            // One that is no Int.
            self = .text("\(number)")
        } else if let list = try? value.decode([JSON].self) {
            self = .list(list)
        } else {
            self = .members(try value.decode([String: JSON].self))
        }
    }

    /// The same value. `Codable` would take ten times as long for all vectors.
    init(_ value: JSONValue) {
        switch value.content {
        case .null: self = .null
        case .bool(let truth): self = .truth(truth)
        case .number(let text): self = Int(text).map(JSON.number) ?? .text(text)
        case .string(let text): self = .text(text)
        case .array(let list): self = .list(list.map(JSON.init))
        case .object(let members):
            self = .members(Dictionary(members.map { ($0.name, JSON($0.value)) }) { $1 })
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .truth(let truth): try value.encode(truth)
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        case .list(let list): try value.encode(list)
        case .members(let members): try value.encode(members)
        }
    }

    subscript(dynamicMember name: String) -> JSON { members[name] ?? .null }

    var members: [String: JSON] { if case .members(let members) = self { members } else { [:] } }
    var truth: Bool? { if case .truth(let truth) = self { truth } else { nil } }
    var number: Int? { if case .number(let number) = self { number } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var list: [JSON] { if case .list(let list) = self { list } else { [] } }
    var texts: [String] { list.compactMap(\.text) }
}
