internal import DirectCore

/// A request that has arrived at a server.
struct Try {
    let connection: SimulatedConnection
    let reply: ReplyPlan
    let time: UInt64

    /// The address of the server; `nil` behind a proxy.
    var place: Place? { connection.place }
}

/// A request that a server has received and not answered yet.
final class RequestUnderWay {
    let connection: SimulatedConnection
    let reply: Int
    /// Whether the server has begun to answer.
    var isAnswered = false

    init(_ connection: SimulatedConnection, reply: Int) {
        self.connection = connection
        self.reply = reply
    }

    /// Whether the client still waits for the answer.
    var isAwaited: Bool { !isAnswered && connection.isOpenForClient && !connection.isBroken }
}

/// An answer that a resolver has given for a host.
struct GivenAnswer {
    let host: Int
    let addresses: [IPAddress]
    /// The time for which it is good.
    let seconds: Int
    let time: UInt64
}

/// A cookie that servers have set.
struct SetCookie {
    let host: Int
    let kind: CookieKind
    /// No two calls, and no two replies to a call, set the same value.
    let value: String
    let number: Int
    /// When it was first and last sent, and when the client must have had it.
    let firstSent: UInt64
    var lastSent: UInt64
    var certain: UInt64?
}

/// What a server has said of a version: what identifies it, and how long it is.
struct Announced {
    let validator: String
    let end: Int
}

/// A question that came in datagrams.
struct DatagramQuestion {
    let question: ResolverQuestion
    let host: Int
    let manner: ResolverPlan.Manner
    /// The whole message.
    let bytes: [UInt8]
    /// How often it has arrived.
    var arrivals = 0

    /// What all its messages have in common.
    var plain: [UInt8] { question.plain(bytes) }
}
