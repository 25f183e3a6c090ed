public import DirectHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension RequestBody {
    /// The value as JSON, with the content type `application/json`.
    ///
    /// - Throws: The encoder's error.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws
        -> RequestBody
    {
        .bytes(Array(try encoder.encode(value)), contentType: "application/json")
    }
}

extension HTTPClient.BufferedResponse {
    /// Decodes the body as JSON, whatever status and content type are. `requiringSuccess()` before it refuses
    /// the body of an error.
    ///
    /// - Throws: The decoder's error.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: Data(body))
    }
}

extension ServerSentEvent {
    /// Decodes the data as JSON, whatever the type of the event is.
    ///
    /// - Throws: The decoder's error, as for the `[DONE]` with which some servers end a stream.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: Data(data.utf8))
    }
}

extension ReceivedResponse {
    /// Decodes the body that came with an error as JSON, such as an API's own description of what is wrong.
    /// `requiringSuccess(keeping:)` says how much of a body is kept: 64 KiB by default.
    ///
    /// - Throws: The decoder's error, also for a body of which a part is missing.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: Data(body))
    }
}
