/// The head of a request as a server has received it.
struct ReceivedHead {
    let method: String
    let target: String
    /// Names in lower case.
    let fields: [(name: String, value: String)]
    let bytes: [UInt8]

    /// The path of the target, which may be a whole URL.
    var path: String {
        guard target.hasPrefix("http://") else { return target }
        return String(target.dropFirst(7).drop { $0 != "/" })
    }

    var isChunked: Bool { value(of: "transfer-encoding") != nil }
    var length: Int? { value(of: "content-length").flatMap { Int($0) } }
    var hasBody: Bool { isChunked || length ?? 0 > 0 }

    func value(of name: String) -> String? { fields.first { $0.name == name }?.value }
}
