/// A value of JSON.
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
}
