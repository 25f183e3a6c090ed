/// The reason why an argument of the command line, or a line of a file, cannot be used.
enum TargetError: Error, Equatable {
    case notAnAddress(String)
    case badPrefix(String, Int)
    case tooManyAddresses(String, Int)
    case noAddresses
    case badHost(String, why: String)
    case notASCII(String)
    case badPort(String)
    case badURL(String, why: String)
    case userInURL(String)
    case noTarget
    case lineTooLong(Int)
    case notText

    /// The message, and a hint if there is one. The user's text is quoted in both.
    var words: (what: String, hint: String?) {
        switch self {
        case .notAnAddress(let text):
            (
                "\(quoted(text)) is not an IP address",
                // A number alone was probably meant as a port.
                UInt16(text) == nil ? nil : "write a port after its host: www.example.com:\(text)"
            )
        case .badPrefix(let text, let width): ("\(quoted(text)) has no prefix length from 0 to \(width)", nil)
        case .tooManyAddresses(let text, let limit):
            (
                "\(quoted(text)) has more than \(limit) addresses",
                "give smaller networks, or the addresses themselves in a file with -f"
            )
        case .noAddresses: ("there is no IP address after the @", "such as www.example.com@203.0.113.7")
        case .badHost(let text, let why):
            (
                "\(quoted(text)): \(why)",
                text.contains("/") && text.first != "/" ? "did you mean https://\(shortened(text))?" : nil
            )
        case .notASCII(let text):
            ("\(quoted(text)) is not ASCII", "write it as in DNS and TLS, with xn--: idn2 NAME prints that")
        case .badPort(let text): ("\(quoted(text)) is not a port from 1 to 65535", nil)
        case .badURL(let text, let why): ("\(quoted(text)): \(why)", nil)
        case .userInURL(let text):
            (
                "\(quoted(withoutPassword(text))) has a user before its host, which is never sent",
                "to choose the IP write it after the URL: https://www.example.com/ @203.0.113.7"
            )
        case .noTarget:
            ("no TARGET, only IPs", "say which host: sni-probe www.example.com @203.0.113.7")
        case .lineTooLong(let limit): ("a line is longer than \(limit) bytes", nil)
        case .notText: ("a line is not UTF-8 text", nil)
        }
    }
}

/// Returns a URL without its password, because messages may end up in logs.
private func withoutPassword(_ url: String) -> String {
    guard let at = url.firstIndex(of: "@"), let scheme = url[..<at].firstIndex(of: "/"),
        let colon = url[scheme..<at].firstIndex(of: ":")
    else { return url }
    return "\(url[...colon])***\(url[at...])"
}

/// Returns the user's text in quotes, escaped and at most 72 characters long.
func quoted(_ text: String) -> String { "'\(shortened(text))'" }

/// Returns the user's text, escaped and at most 72 characters long.
func shortened(_ text: String) -> String {
    let harmless = PlainText.harmless(text, unicode: true)
    let scalars = harmless.unicodeScalars
    guard scalars.count > 72 else { return harmless }
    return String(String.UnicodeScalarView(scalars.prefix(72))) + "..."
}
