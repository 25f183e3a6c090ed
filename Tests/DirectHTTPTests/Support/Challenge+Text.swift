@testable import DirectHTTP

extension Challenge {
    /// Returns all challenges in the value of one field, or the credentials in it, which have the same
    /// syntax (RFC 9110, section 11.4).
    static func all(of text: String) -> [Challenge] { all(of: Array(text.utf8)) }
}
