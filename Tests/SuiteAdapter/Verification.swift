struct VerificationQuestion: Decodable {
    let id: String
}
struct VerificationAnswer: Encodable {
    let id: String
    var skip = true
}
extension SuiteAdapter {
    static func verdict(on question: VerificationQuestion) -> VerificationAnswer {
        VerificationAnswer(id: question.id)
    }
}
