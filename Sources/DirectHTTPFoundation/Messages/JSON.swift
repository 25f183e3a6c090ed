public import DirectHTTP
public import Foundation

extension RequestBody {
    /// The value as JSON, with the content type `application/json`.
    ///
    /// - Throws: The encoder's error.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws
        -> RequestBody
    {
        .data(try encoder.encode(value), contentType: "application/json")
    }
}

extension BufferedResponse {
    /// Decodes the body as JSON, whatever its content type is.
    ///
    /// - Throws: The decoder's error.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: Data(body))
    }
}
