internal import DirectJSON

/// The outcome of a request, or of an attempt at one of its addresses: one word of the vectors' vocabulary.
enum Ending: Hashable, Sendable {
    /// A complete response was received.
    case answered
    /// No connection was attempted.
    case untried
    /// The server ended the handshake or the connection with this TLS alert.
    case alert(UInt8)
    /// There is no response, for this reason.
    case fault(Fault)
    /// An outcome for which the vectors have no word.
    case other(String)
    /// The client hung or crashed instead of reporting an error.
    case crashed(String)

    /// The reason why there is no response.
    enum Fault: String, CaseIterable, Sendable {
        /// The connection was refused.
        case refused
        /// A time limit was exceeded.
        case timeout
        /// Another address was faster, or settled the request in another way.
        case overtaken
        /// The server answered that the request was misdirected (421).
        case misdirected
        /// The connection was reset.
        case reset
        /// The connection ended before the response began.
        case closed
        /// The connection ended before the response was complete.
        case incomplete
        /// The data received was not TLS or broke its rules.
        case badTLS
        /// The server selected an ALPN protocol that was not offered.
        case wrongProtocol
        /// The data received was not HTTP or broke its rules.
        case badHTTP
        /// A name that is to be encrypted could not be.
        case unencrypted
        /// The certificate does not cover the requested name.
        case wrongName
        /// The certificate has expired.
        case expired
        /// The certificate is not valid yet.
        case notYetValid
        /// No path leads to a trusted root.
        case untrusted
        /// The signature of a certificate is invalid.
        case badSignature
        /// The certificate may not be used for a TLS server.
        case wrongPurpose
        /// The certificate's name violates the name constraints of an issuer.
        case outsideConstraints
        /// The path exceeds a path length constraint.
        case pathTooLong
        /// The issuer is not a certification authority.
        case notAuthority
        /// The key or digest is too weak.
        case weak
        /// A critical extension is unknown.
        case unknownExtension
        /// The certificate is invalid for another reason.
        case badCertificate
        /// The given text is not an address.
        case noAddress
        /// The list of addresses is empty.
        case noAddresses
        /// The client was given invalid settings.
        case badSettings
    }

    var isCrash: Bool { if case .crashed = self { true } else { false } }
}

extension Ending {
    /// Returns the failure with this word, or `nil` if there is none.
    init?(failure word: String) {
        guard let ending = Ending(word: word), ending != .answered, ending != .untried else { return nil }
        self = ending
    }

    /// Returns the ending with this word, or `nil` if there is none.
    init?(word: String) {
        if word == "answered" {
            self = .answered
        } else if word == "untried" {
            self = .untried
        } else if word.hasPrefix("alert "), let number = UInt8(word.dropFirst(6)) {
            self = .alert(number)
        } else if let fault = Fault(rawValue: word) {
            self = .fault(fault)
        } else {
            return nil
        }
    }
}

extension Ending: FromJSON {
    init(_ value: JSONValue) throws(FieldError) {
        let word = try value.text()
        guard let ending = Ending(word: word) else {
            let faults = Fault.allCases.map(\.rawValue).joined(separator: ", ")
            throw value.unknown(word, known: "answered, untried, alert N, \(faults)")
        }
        self = ending
    }
}

/// One word or a list of words, any of which is accepted.
@propertyWrapper struct OneOrMore: FromJSON, Sendable {
    var wrappedValue: [Ending]

    init(_ value: JSONValue) throws(FieldError) {
        wrappedValue = try RightAnswers<Ending>(value).all
    }
}

/// One answer or a list of answers, any of which is right.
struct RightAnswers<Answer: Decodable & Sendable>: FromJSON, Sendable {
    let all: [Answer]

    init(_ value: JSONValue) throws(FieldError) {
        guard case .array = value.content else {
            all = [try StrictDecoder.decode(from: value)]
            return
        }
        all = try StrictDecoder.decode(from: value)
        guard !all.isEmpty else { throw value.fault("the list is empty") }
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
