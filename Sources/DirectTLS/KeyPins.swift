/// Which keys the chains of which servers must contain, besides being trusted otherwise.
///
/// Give at least one pin of a key that is not in use yet: whoever loses the only pinned key has locked the
/// clients out.
public struct KeyPins: Hashable, Sendable {
    /// What is told of every chain without a pinned key, also where that is an error.
    public var observer: KeyPinObserver?

    private var rules: [Rule] = []

    private struct Rule: Hashable {
        let pattern: KeyPinPattern
        let pins: Set<KeyPin>
        let isReportOnly: Bool
    }

    /// No pins: nothing is asked of anybody.
    public init() {}

    /// Pins by pattern, each as text.
    public init(_ pins: KeyValuePairs<String, [String]>) throws(KeyPinFault) {
        for (pattern, texts) in pins { try add(texts, for: pattern) }
    }

    /// Adds pins for a host: one of all that fit a server must be in its chain.
    ///
    /// - Parameters:
    ///   - texts: Pins as `sha256/BASE64`.
    ///   - pattern: A name or an address alone; `*.example.com` for the names one label below; `**.example.com` for
    ///     the name itself and all below. A dot at the end and the case of letters mean nothing.
    ///   - isReportOnly: Whether a chain that does not fit is only told of, and passes.
    public mutating func add(
        _ texts: [String],
        for pattern: String,
        isReportOnly: Bool = false
    ) throws(KeyPinFault) {
        guard !texts.isEmpty else { throw .noPins(pattern) }
        var pins: Set<KeyPin> = []
        for text in texts { pins.insert(try KeyPin(text)) }
        rules.append(Rule(pattern: try KeyPinPattern(pattern), pins: pins, isReportOnly: isReportOnly))
    }

    var isEmpty: Bool { rules.isEmpty }

    /// The pins of which a server's chain must have one; nothing where it is free.
    func demanded(of identity: ServerIdentity, reportOnly: Bool) -> Set<KeyPin>? {
        let fitting = rules.filter { $0.isReportOnly == reportOnly && $0.pattern.matches(identity) }
        guard !fitting.isEmpty else { return nil }
        return fitting.reduce(into: []) { $0.formUnion($1.pins) }
    }
}

/// Told of chains without a pinned key. It is called during the handshake, on whatever thread that runs: it must
/// not block. Two are equal if they are the same object.
public final class KeyPinObserver: Hashable, Sendable {
    private let handler: @Sendable (KeyMismatch) -> Void

    /// Calls this closure for each such chain.
    public init(_ handler: @escaping @Sendable (KeyMismatch) -> Void) {
        self.handler = handler
    }

    func tell(_ mismatch: KeyMismatch) { handler(mismatch) }

    public static func == (left: KeyPinObserver, right: KeyPinObserver) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A chain that is trusted and has no pinned key.
public struct KeyMismatch: Hashable, Sendable {
    /// The name or address of the URL.
    public let name: String
    /// The pins of the verified chain, the server's own key first.
    public let seen: [KeyPin]
    /// Whether the connection went on all the same.
    public let wasReportOnly: Bool
}

extension KeyMismatch: CustomStringConvertible {
    /// The name, and the pins that would have fitted.
    public var description: String {
        let pins = seen.map(\.description).joined(separator: ", ")
        return "no key in the chain of \(printable(name)) is pinned; it has \(pins)"
    }
}

/// Whom pins are for, in normal form.
enum KeyPinPattern: Hashable {
    case host(ServerIdentity)
    case oneLabelBelow(String)
    case atOrBelow(String)

    init(_ text: String) throws(KeyPinFault) {
        // The same normal form as that of the identity: no way around a pin by a dot or a capital letter.
        let dotless = text.hasSuffix(".") ? String(text.dropLast()) : text
        do throws(TLSError) {
            if dotless.hasPrefix("**.") {
                self = .atOrBelow(try ServerIdentity.name(String(dotless.dropFirst(3))).text)
            } else if dotless.hasPrefix("*.") {
                self = .oneLabelBelow(try ServerIdentity.name(String(dotless.dropFirst(2))).text)
            } else if let address = try? ServerIdentity.address(text) {
                self = .host(address)
            } else {
                self = .host(try .name(dotless))
            }
        } catch {
            throw .badPattern(text)
        }
    }

    func matches(_ identity: ServerIdentity) -> Bool {
        switch self {
        case .host(let host): return host == identity
        case .oneLabelBelow(let parent):
            guard identity.kind == .name, let dot = identity.text.firstIndex(of: ".") else { return false }
            return identity.text[dot...].dropFirst() == parent
        case .atOrBelow(let parent):
            guard identity.kind == .name else { return false }
            return identity.text == parent || identity.text.hasSuffix("." + parent)
        }
    }
}
