import DirectHTTP1

@testable import DirectHTTP

extension FuzzTarget {
    /// Challenges of servers and proxies (RFC 9110, section 11.6.1).
    ///
    /// - A list of challenges is read as it was meant, in each form that the grammar has for it: tokens and
    ///   quoted strings, blanks around the equals sign, empty elements, one field or several.
    /// - Any text gives challenges that are read back from their plainest form.
    static let challenges = FuzzTarget(name: "challenges") { choices in
        let count = choices.number(below: 5)
        let forms = (0..<count).map { _ in ChallengeForm(&choices) }
        let isProxy = choices.flag()
        let texts = choices.texts()
        for read in texts.flatMap({ Challenge.all(of: $0) }) { checkReadBack(read) }
        var headers = HTTPHeaders()
        let name = isProxy ? "Proxy-Authenticate" : "WWW-Authenticate"
        let meant = forms.enumerated().map { MeantChallenge($1, texts, at: $0) }
        var field: [UInt8] = []
        for (form, challenge) in zip(forms, meant) {
            if form.isInOwnField, !field.isEmpty {
                headers.add(name, bytes: field)
                field = []
            }
            field += (field.isEmpty ? [] : form.comma) + challenge.written(form)
        }
        headers.add(name, bytes: field)
        let read = Challenge.all(in: headers, proxy: isProxy).map(MeantChallenge.init)
        requireEqual(read, meant, "the challenges that were written")
    }
}

private func checkReadBack(_ challenge: Challenge) {
    require(!challenge.scheme.isEmpty && challenge.scheme.utf8.allSatisfy(isTokenByte), "a scheme is a token")
    require(challenge.token == nil || challenge.parameters.isEmpty, "a token or parameters")
    let plain = MeantChallenge(challenge)
    let again = Challenge.all(of: plain.written(ChallengeForm())).map(MeantChallenge.init)
    requireEqual(again, [plain], "the plainest form")
}

/// How one challenge is written.
private struct ChallengeForm {
    var comma = Array(", ".utf8)
    var equals = Array("=".utf8)
    var isInOwnField = false
    /// Whether a token is quoted all the same.
    var quotesAll = true
    /// Whether characters are escaped that need not be.
    var escapesAll = false
    var padding = 0
    /// 0 and 1: a scheme alone, or with a token68; more: with one parameter less.
    var kind = 0

    init() {}

    init(_ choices: inout Choices) {
        comma = Array(choices.pick([", ", ",", " ,\t", ",, ,"]).utf8)
        equals = Array(choices.pick(["=", " = ", "\t= "]).utf8)
        isInOwnField = choices.flag()
        quotesAll = choices.flag()
        escapesAll = choices.flag()
        padding = choices.number(below: 3)
        kind = choices.number(below: 5)
    }
}

/// What a challenge says.
private struct MeantChallenge: Equatable {
    private let scheme: String
    private var parameters: [String: [UInt8]] = [:]
    private var token: String?

    init(_ challenge: Challenge) {
        scheme = challenge.scheme
        parameters = challenge.values
        token = challenge.token
    }

    /// Makes one of the texts, each of which may serve as a name or a value.
    init(_ form: ChallengeForm, _ texts: [[UInt8]], at index: Int) {
        func text(_ number: Int) -> [UInt8] { texts[(index + number) % texts.count] }
        func word(_ number: Int) -> String {
            let word = text(number).filter(isTokenByte).prefix(40)
            return word.isEmpty ? "x\(number)" : Array(word).lowered.text
        }
        scheme = word(0)
        if form.kind == 1 {
            let letters = text(1).filter { isTokenByte($0) && !"!#$%&'*^`|".utf8.contains($0) }
            token = (letters.isEmpty ? "x" : letters.text) + String(repeating: "=", count: form.padding)
        }
        for number in 1..<max(1, form.kind) {
            parameters[word(number)] = text(number + 1).filter { $0 >= 0x20 && $0 < 0x7F || $0 == 0x09 }
        }
    }

    func written(_ form: ChallengeForm) -> [UInt8] {
        var bytes = Array(scheme.utf8)
        if let token { return bytes + [0x20] + Array(token.utf8) }
        for (number, (name, value)) in parameters.sorted(by: { $0.key < $1.key }).enumerated() {
            bytes += number == 0 ? [0x20] : form.comma
            bytes += Array(name.utf8) + form.equals + Self.argument(value, form)
        }
        return bytes
    }

    private static func argument(_ value: [UInt8], _ form: ChallengeForm) -> [UInt8] {
        if !form.quotesAll, !value.isEmpty, value.allSatisfy(isTokenByte) { return value }
        return value.quoted(escapingAll: form.escapesAll)
    }
}
