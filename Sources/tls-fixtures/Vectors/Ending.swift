internal import DirectJSON

/// What became of a request, or of an address that was tried for it: one word of the vectors' vocabulary.
enum Ending: Hashable, Sendable {
    /// A response came, whole.
    case answered
    /// Nobody went there.
    case untried
    /// The server ended it with this TLS alert.
    case alert(UInt8)
    case fault(Fault)
    /// Something for which the vectors have no word.
    case other(String)
    /// The client did not even fail as it should: it hung, or died.
    case crashed(String)

    /// Why there is no response.
    enum Fault: String, CaseIterable, Sendable {
        /// Nothing listens there.
        case refused
        /// It took too long.
        case timeout
        /// Another address was faster, or decided the matter in another way.
        case overtaken
        /// The server answered that it is the wrong one (421).
        case misdirected
        /// The connection was reset.
        case reset
        /// The connection ended before the response began.
        case closed
        /// The connection ended before the response did.
        case incomplete
        /// What came was not TLS, or broke its rules.
        case badTLS
        /// The server chose a protocol by ALPN that was not offered.
        case wrongProtocol
        /// What came was not HTTP, or broke its rules.
        case badHTTP
        /// The certificate is for others.
        case wrongName
        case expired
        case notYetValid
        /// No path leads to a root that is trusted.
        case untrusted
        case badSignature
        case wrongPurpose
        /// A name that its authority may not vouch for.
        case outsideConstraints
        case pathTooLong
        /// Signed by something that may not sign certificates.
        case notAuthority
        /// A key or a digest that is too weak.
        case weak
        /// A critical extension that nobody knows.
        case unknownExtension
        /// The certificate is at fault in another way.
        case badCertificate
        /// The text given is no address.
        case noAddress
        /// No address was given.
        case noAddresses
        /// The client itself was told what cannot be.
        case badSettings
    }

    var isCrash: Bool { if case .crashed = self { true } else { false } }
}

extension Ending {
    static func read(_ value: JSONValue) throws(FieldFault) -> Ending {
        let word = try Read.text(value)
        if word == "answered" { return .answered }
        if word == "untried" { return .untried }
        if word.hasPrefix("alert "), let number = UInt8(word.dropFirst(6)) { return .alert(number) }
        if let fault = Fault(rawValue: word) { return .fault(fault) }
        let known = Fault.allCases.map(\.rawValue).joined(separator: ", ")
        throw FieldFault(
            line: value.line,
            what: "\"\(word)\" is none of answered, untried, alert N, \(known)"
        )
    }
}

extension Ending {
    /// Where several will do.
    static func readOneOrMore(_ value: JSONValue) throws(FieldFault) -> [Ending] {
        guard case .list = value.content else { return [try read(value)] }
        let endings = try Read.list(of: read)(value)
        guard !endings.isEmpty else { throw FieldFault(line: value.line, what: "the list is empty") }
        return endings
    }
}

extension Ending: CustomStringConvertible {
    var description: String {
        switch self {
        case .answered: "answered"
        case .untried: "untried"
        case .alert(let number): "alert \(number)"
        case .fault(let fault): fault.rawValue
        case .other(let text), .crashed(let text): text
        }
    }
}
