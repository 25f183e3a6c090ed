internal import DirectCore

/// The words of a hint, with holes for the names of what was probed: a hint for several probes names none of
/// them alone.
struct HintText: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// What stands in a hole.
    enum Hole: String, CaseIterable, Hashable, Sendable {
        /// The host in a sentence.
        case host
        /// The IP in a sentence.
        case ip
        /// The target of a command.
        case target
        /// The IP of a command, after an @.
        case at
    }

    fileprivate enum Piece: Hashable, Sendable {
        case text(String)
        case hole(Hole)
    }

    private var pieces: [Piece]

    init(stringLiteral text: String) { pieces = [.text(text)] }

    init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

    /// Reads what `marked` writes.
    init(marked text: String) {
        pieces = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let hole = Hole(rawValue: String(rest[rest.index(after: open)..<close]))
            let end = hole == nil ? rest.index(after: open) : rest.index(after: close)
            pieces.append(.text(String(rest[..<(hole == nil ? end : open)])))
            if let hole { pieces.append(.hole(hole)) }
            rest = rest[end...]
        }
        pieces.append(.text(String(rest)))
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [Piece] = []

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ text: String) { pieces.append(.text(text)) }
        mutating func appendInterpolation(_ hole: Hole) { pieces.append(.hole(hole)) }
        mutating func appendInterpolation(_ other: HintText) { pieces += other.pieces }
        mutating func appendInterpolation(_ text: some StringProtocol) { pieces.append(.text(String(text))) }
        mutating func appendInterpolation(_ port: UInt16) { pieces.append(.text("\(port)")) }
    }

    static func + (one: HintText, other: HintText) -> HintText {
        var sum = one
        sum.pieces += other.pieces
        return sum
    }

    /// Returns the text with these words in the holes.
    func filled(_ words: (Hole) -> String) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .hole(let hole): words(hole)
            }
        }.joined()
    }

    /// The text with the name of each hole in braces.
    var marked: String { filled { "{\($0.rawValue)}" } }
}

/// Advice on a fault. Of many probes with the same fault and words only one hint is shown.
struct Hint: Hashable, Sendable {
    /// What a hint is for. The address is empty if the host was not resolved.
    struct Place: Hashable, Sendable {
        let host: String
        let address: String
        /// The target as a word of the command line.
        let word: String
    }

    let kind: Fault.ID
    var words: HintText
    let place: Place

    /// The text for this probe alone.
    var text: String {
        words.filled { hole in
            switch hole {
            case .host: place.host
            case .ip, .at: place.address
            case .target: place.word
            }
        }
    }
}

extension Hint.Place {
    init(of probe: Probe, hasAddress: Bool = true) {
        let address = hasAddress ? probe.address.description : ""
        self.init(host: probe.target.name, address: address, word: probe.target.word)
    }
}

extension ProbeRecord {
    /// The place that a hint on this record is for.
    var hintPlace: Hint.Place {
        Hint.Place(of: observation.probe, hasAddress: address != nil)
    }
}
