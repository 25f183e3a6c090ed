/// The head of a request as a server has received it.
struct ReceivedHead {
    let method: String
    let target: String
    /// Names in lower case.
    let fields: [(name: String, value: String)]
    let bytes: [UInt8]

    var isChunked: Bool { value(of: "transfer-encoding") != nil }
    var length: Int? { value(of: "content-length").flatMap { Int($0) } }
    var hasBody: Bool { isChunked || length ?? 0 > 0 }

    func value(of name: String) -> String? { fields.first { $0.name == name }?.value }
}
