/// A hint, and the probes that it is for.
struct HintGroup {
    let hint: Hint
    /// The first places.
    private var places: [Hint.Place] = []
    private var knownPlaces: Set<Hint.Place> = []
    private(set) var count = 0

    private static let mostPlaces = 64
    private static let mostShown = 5

    init(_ hint: Hint) {
        self.hint = hint
        add(hint.place)
    }

    /// Whether the hint of another probe gives the same advice.
    func fits(_ other: Hint) -> Bool { other.kind == hint.kind && other.words == hint.words }

    /// Adds a probe with the same advice.
    mutating func add(_ place: Hint.Place) {
        guard !knownPlaces.contains(place) else { return }
        count += 1
        guard places.count < Self.mostPlaces else { return }
        places.append(place)
        knownPlaces.insert(place)
    }

    /// Returns the text of the hint in a summary: the places that it is for, then the words, which name none
    /// of them alone.
    func text(severalHosts: Bool) -> String {
        let shown = places.prefix(Self.mostShown).map { place in
            if place.address.isEmpty { return place.host }
            return severalHosts ? "\(place.host) @ \(place.address)" : place.address
        }
        let list = Words.list(shown, of: count)
        let unit = severalHosts ? "probes" : "IPs"
        let words = words(severalHosts: severalHosts)
        return count == 1 ? "\(list): \(words)" : "on \(Words.grouped(count)) \(unit) (\(list)): \(words)"
    }

    private func words(severalHosts: Bool) -> String {
        let isOne = Set(places.map(\.host)).count == 1
        return hint.words.filled { hole in
            switch hole {
            case .host: isOne ? hint.place.host : "the host"
            case .ip: "the IP"
            case .target: isOne ? hint.place.word : "HOST"
            case .at: count == 1 ? hint.place.address : "IP"
            }
        }
    }
}

/// The hints of a run, one for each kind of advice.
struct HintList {
    private(set) var groups: [HintGroup] = []

    private static let most = 32

    mutating func add(_ hint: Hint) {
        if let index = groups.firstIndex(where: { $0.fits(hint) }) {
            groups[index].add(hint.place)
        } else if groups.count < Self.most {
            groups.append(HintGroup(hint))
        }
    }
}
