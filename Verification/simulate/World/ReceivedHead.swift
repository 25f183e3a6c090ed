/// The head of a request as a server has received it.
struct ReceivedHead {
    let method: String
    let target: String
    /// Names in lower case.
    let fields: [(name: String, value: String)]
    let bytes: [UInt8]

    func value(of name: String) -> String? { fields.first { $0.name == name }?.value }
}
