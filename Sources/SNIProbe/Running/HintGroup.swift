/// A hint, and the probes that it is for.
struct HintGroup {
    let hint: Hint
    /// The text without the host and the address of the first probe, which others with the same advice do not share.
    private let template: String
    /// The first places, as host and address.
    private var places: [Place] = []
    private(set) var count = 0

    private struct Place: Hashable {
        let host: String
        let address: String
    }

    private static let mostPlaces = 64
    private static let mostShown = 5

    /// Creates a group. The address is empty if the host was not resolved.
    init(_ hint: Hint, host: String, address: String) {
        self.hint = hint
        template = Self.template(hint, host: host, address: address)
        add(host: host, address: address)
    }

    /// Whether the hint of another probe gives the same advice.
    func fits(_ hint: Hint, host: String, address: String) -> Bool {
        hint.hasSameAdvice(as: self.hint)
            && Self.template(hint, host: host, address: address) == template
    }

    /// Adds a probe with the same advice.
    mutating func add(host: String, address: String) {
        let place = Place(host: host, address: address)
        guard !places.contains(place) else { return }
        count += 1
        if places.count < Self.mostPlaces { places.append(place) }
    }

    /// Returns the text of the hint. If it is for several places, they are listed first, and the text does not name one
    /// of them.
    func text(severalHosts: Bool) -> String {
        guard count > 1 else { return hint.text }
        let shown = places.prefix(Self.mostShown).map { place in
            if place.address.isEmpty { return place.host }
            return severalHosts ? "\(place.host) @ \(place.address)" : place.address
        }
        let more = count > shown.count ? " and \(Words.grouped(count - shown.count)) more" : ""
        let text = severalHosts ? template : template.replacing(Self.anyHost, with: places.first?.host ?? "")
        let unit = severalHosts ? "probes" : "IPs"
        return "on \(Words.grouped(count)) \(unit) (\(shown.joined(separator: ", "))\(more)): \(text)"
    }

    private static let anyHost = "the host"

    /// Returns the text with "the IP" and "the host" in place of the address and the host that it names.
    private static func template(_ hint: Hint, host: String, address: String) -> String {
        let address = address.isEmpty ? host : address
        return hint.text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            if let rest = remainder(of: word, after: address) { return "the IP" + rest }
            if let rest = remainder(of: word, after: host) { return anyHost + rest }
            return String(word)
        }.joined(separator: " ")
    }

    /// Returns the punctuation after a name; `nil` if the word is not the name.
    private static func remainder(of word: Substring, after name: String) -> String? {
        guard word.hasPrefix(name), word.dropFirst(name.count).allSatisfy({ ",.;:)".contains($0) }) else {
            return nil
        }
        return String(word.dropFirst(name.count))
    }
}

/// The hints of a run, one for each kind of advice.
struct HintList {
    private(set) var groups: [HintGroup] = []

    private static let most = 32

    /// Adds a hint. The address is empty if the host was not resolved.
    mutating func add(_ hint: Hint, host: String, address: String) {
        if let index = groups.firstIndex(where: { $0.fits(hint, host: host, address: address) }) {
            groups[index].add(host: host, address: address)
        } else if groups.count < Self.most {
            groups.append(HintGroup(hint, host: host, address: address))
        }
    }
}
