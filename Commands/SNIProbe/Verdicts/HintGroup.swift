/// A hint, and the probes that it is for.
struct HintGroup {
    let hint: Hint
    /// The text without the host and the address of the first probe, which others with the same advice do not
    /// share.
    private let template: String
    /// The first places, as host and address.
    private var places: [Place] = []
    private var knownPlaces: Set<Place> = []
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
        guard !knownPlaces.contains(place) else { return }
        count += 1
        guard places.count < Self.mostPlaces else { return }
        places.append(place)
        knownPlaces.insert(place)
    }

    /// Returns the text of the hint. If it is for several places, they are listed first, and the text does
    /// not name one of them.
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
        // Bytes are compared, not characters: a run may have a million hints.
        let (host, text) = (Array(host.utf8), Array(hint.text.utf8))
        let address = address.isEmpty ? host : Array(address.utf8)
        var template: [UInt8] = []
        template.reserveCapacity(text.count + 16)
        for word in text.split(separator: 0x20, omittingEmptySubsequences: false) {
            if word.startIndex > 0 { template.append(0x20) }
            if isName(address, in: word) {
                template += "the IP".utf8
                template += word.dropFirst(address.count)
            } else if isName(host, in: word) {
                template += anyHost.utf8
                template += word.dropFirst(host.count)
            } else {
                template += word
            }
        }
        return String(decoding: template, as: UTF8.self)
    }

    /// Whether the word is the name, and perhaps punctuation after it.
    private static func isName(_ name: [UInt8], in word: ArraySlice<UInt8>) -> Bool {
        word.starts(with: name) && word.dropFirst(name.count).allSatisfy(",.;:)".utf8.contains)
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
