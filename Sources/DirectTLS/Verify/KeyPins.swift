/// Pinned public keys: the chain of a server must contain one of its pinned keys, in addition to being
/// trusted.
///
/// Always pin at least one key that is not in use yet: if the only pinned key is lost, all clients are locked
/// out.
public struct KeyPins: Hashable, Sendable {
    /// The observer that is called for every chain without a pinned key, even if the connection then fails.
    public var observer: KeyPinObserver?

    private var rules: [Rule] = []

    private struct Rule: Hashable {
        let pattern: KeyPinPattern
        let pins: Set<KeyPin>
        let isReportOnly: Bool
    }

    /// Creates an empty set of pins, which accepts every key.
    public init() {}

    /// Creates pins from texts as ``KeyPin`` parses them, by pattern.
    ///
    /// - Throws: ``KeyPinError`` for an invalid pin or pattern, and for a pattern without pins.
    public init(_ pins: KeyValuePairs<String, [String]>) throws(KeyPinError) {
        for (pattern, texts) in pins { try add(texts, for: pattern) }
    }

    /// Adds pins for a pattern of servers. The chain of a server must contain at least one pinned key. If
    /// several patterns match the server, a pin of any of them is enough.
    ///
    /// - Parameters:
    ///   - texts: Pins as `sha256/BASE64`.
    ///   - pattern: A name or an address for one host; `*.example.com` for the names one label below;
    ///     `**.example.com` for the name itself and all names below. A dot at the end and the case of letters
    ///     are ignored.
    ///   - isReportOnly: Whether a chain without the pins is only reported to ``observer``, and accepted.
    /// - Throws: ``KeyPinError`` for an invalid pin or pattern, and if there are no pins.
    public mutating func add(
        _ texts: [String],
        for pattern: String,
        isReportOnly: Bool = false
    ) throws(KeyPinError) {
        guard !texts.isEmpty else { throw .noPins(pattern) }
        var pins: Set<KeyPin> = []
        for text in texts { pins.insert(try KeyPin(text)) }
        rules.append(Rule(pattern: try KeyPinPattern(pattern), pins: pins, isReportOnly: isReportOnly))
    }

    /// Returns the pins of a server; `nil` if no pattern matches it.
    func pins(of identity: ServerIdentity) -> ServerPins? {
        let fitting = rules.filter { $0.pattern.matches(identity) }
        func pins(isReportOnly: Bool) -> Set<KeyPin>? {
            let rules = fitting.filter { $0.isReportOnly == isReportOnly }
            return rules.isEmpty ? nil : rules.reduce(into: []) { $0.formUnion($1.pins) }
        }
        guard !fitting.isEmpty else { return nil }
        return ServerPins(demanded: pins(isReportOnly: false), watched: pins(isReportOnly: true))
    }
}

/// The pins of one server.
struct ServerPins {
    /// The pins of which its chain must contain one; `nil` if there are none but for reports.
    let demanded: Set<KeyPin>?
    /// The pins without one of which its chain is reported; `nil` if there are none.
    let watched: Set<KeyPin>?

    /// Returns the pins of a chain's keys, that of the server first. Borrows the stack.
    static func keys(of chain: OpaquePointer) -> [KeyPin] {
        CheckedCertificate.all(of: chain).compactMap {
            KeyPin(sha256: DirectTLS.sha256(CertificateReader($0.raw).publicKeyInfo))
        }
    }

    /// Whether the keys include a demanded one.
    func accepts(_ keys: [KeyPin]) -> Bool { demanded?.isDisjoint(with: keys) != true }

    /// Whether the keys lack one without which they are reported.
    func reports(_ keys: [KeyPin]) -> Bool { watched?.isDisjoint(with: keys) == true }
}

/// An observer of chains without a pinned key. The call happens during the handshake, on the thread that runs
/// it, so it must not block. Two observers are equal if they are the same object.
public final class KeyPinObserver: Hashable, Sendable {
    private let handler: @Sendable (KeyMismatch) -> Void

    /// Creates an observer that calls the closure for each such chain.
    public init(_ handler: @escaping @Sendable (KeyMismatch) -> Void) {
        self.handler = handler
    }

    func tell(_ mismatch: KeyMismatch) { handler(mismatch) }

    /// Whether both are the same object.
    public static func == (left: KeyPinObserver, right: KeyPinObserver) -> Bool { left === right }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The servers that pins are for, in normal form.
enum KeyPinPattern: Hashable {
    case host(ServerIdentity)
    case oneLabelBelow(String)
    case atOrBelow(String)

    init(_ text: String) throws(KeyPinError) {
        // The normal form is the same as that of the identity, so that a dot or a capital letter cannot
        // bypass a pin.
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
