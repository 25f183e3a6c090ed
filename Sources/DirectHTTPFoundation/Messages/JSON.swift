public import DirectHTTP
public import Foundation

extension RequestBody {
    /// The value as JSON, and said to be that.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws
        -> RequestBody
    {
        .data(try encoder.encode(value), contentType: "application/json")
    }
}

extension FullResponse {
    /// The body, read as JSON.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: Data(body))
    }
}
