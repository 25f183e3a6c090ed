/// An event that a server has sent (HTML Standard, section 9.2).
public struct ServerSentEvent: Hashable, Sendable {
    /// The type of the event; `message` if the server names none.
    public var type: String
    /// The data. Several `data` lines are joined with LF.
    public var data: String
    /// The id of this event, or of the last one before it that had one; empty if there was none. A request
    /// with it as `Last-Event-ID` continues after this event.
    public var id: String
    /// The time that the server wants clients to wait before they connect again; `nil` if it has not said so
    /// yet.
    public var retry: Duration?

    /// Makes an event.
    public init(type: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.type = type
        self.data = data
        self.id = id
        self.retry = retry
    }
}

/// Interprets the lines of an event stream (HTML Standard, section 9.2.6).
struct EventParser: Sendable {
    /// The data of an event is larger than the limit.
    struct TooLarge: Error {}

    /// The id of the last event that was complete. A connection that breaks continues from there.
    private(set) var lastEventID: String
    /// The time to wait before the next connection, if the server has said so.
    private(set) var retry: Duration?

    let limit: Int
    private var id: String
    private var type = ""
    private var data: [UInt8] = []

    /// The longest time that a server may ask clients to wait: a day. It might as well mean "never".
    static let longestRetry = 86_400_000

    init(limit: Int, lastEventID: String = "", retry: Duration? = nil) {
        self.limit = limit
        self.lastEventID = lastEventID
        self.retry = retry
        id = lastEventID
    }

    /// Takes the next line; returns the event that it completes.
    mutating func take(_ line: [UInt8]) throws(TooLarge) -> ServerSentEvent? {
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        // A line that begins with a colon is a comment.
        guard colon != 0 else { return nil }
        var value = line[(colon ?? line.endIndex)...].dropFirst()
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self) {
        case "data": try append(value)
        case "event": type = String(decoding: value, as: UTF8.self)
        case "id": takeID(value)
        case "retry": takeRetry(value)
        default: break
        }
        return nil
    }

    private mutating func append(_ value: ArraySlice<UInt8>) throws(TooLarge) {
        guard value.count < limit - data.count else { throw TooLarge() }
        data += value
        data.append(0x0A)
    }

    private mutating func takeID(_ value: ArraySlice<UInt8>) {
        // The standard ignores an id with NUL. The field of a request can hold no other control character
        // either.
        guard !value.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { return }
        id = String(decoding: value, as: UTF8.self)
    }

    private mutating func takeRetry(_ value: ArraySlice<UInt8>) {
        guard !value.isEmpty, value.allSatisfy({ 0x30...0x39 ~= $0 }) else { return }
        let milliseconds = Int(String(decoding: value, as: UTF8.self)) ?? .max
        retry = .milliseconds(min(milliseconds, Self.longestRetry))
    }

    /// Completes the event at an empty line. One without data is none, but its id counts.
    private mutating func dispatch() -> ServerSentEvent? {
        defer { (type, data) = ("", []) }
        lastEventID = id
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type,
            data: String(decoding: data.dropLast(), as: UTF8.self),
            id: id,
            retry: retry
        )
    }
}
