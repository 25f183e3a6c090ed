internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The value of a `Strict-Transport-Security` field (RFC 6797, section 6.1).
package struct HSTSPolicy: Equatable {
    /// The time for which the policy is valid, in seconds; 0 revokes an earlier policy.
    package let maximumAge: Int64
    /// Whether the policy applies to all names below the host as well.
    let includesSubdomains: Bool

    /// Parses a field value; `nil` if it breaks the grammar, repeats a directive, or has no `max-age`. Such a
    /// field has to be ignored as a whole. Unknown directives are skipped.
    package init?(_ field: [UInt8]) {
        var directives = FieldScanner(field)
        var names: Set<String> = []
        var maximumAge: Int64?
        var includesSubdomains = false
        while var element = directives.element(before: UInt8(ascii: ";")) {
            guard let directive = element.directive(allowsBlanks: true), directive.argument != .broken,
                names.insert(directive.name).inserted
            else { return nil }
            switch (directive.name, directive.argument) {
            case ("max-age", .text(let digits)):
                guard let seconds = Self.seconds(digits) else { return nil }
                maximumAge = seconds
            case ("includesubdomains", .none): includesSubdomains = true
            case ("max-age", _), ("includesubdomains", _): return nil
            default: break
            }
        }
        guard let maximumAge else { return nil }
        self.maximumAge = maximumAge
        self.includesSubdomains = includesSubdomains
    }

    /// A number that does not fit is treated as the largest one.
    private static func seconds(_ digits: [UInt8]) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self)) ?? .max
    }
}
