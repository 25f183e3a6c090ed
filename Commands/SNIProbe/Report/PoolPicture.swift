/// The picture of a pool: on the left the IPs, on the right the certificates that they serve or the faults in
/// their place, and a line from each to each.
struct PoolPicture {
    /// IPs that are drawn as one, because there are many.
    struct Source {
        let label: String
        let state: ResultState
        let target: Int
    }

    struct Target {
        let key: String
        let label: String
        let detail: String
        var state: ResultState
        var count: Int
    }

    private(set) var sources: [Source] = []
    private(set) var targets: [Target] = []
    let host: String

    /// The number of IPs above which those with the same certificate and state are drawn as one.
    private static let mostSingle = 24
    private static let mostTargets = 24

    /// - Parameter counts: How many results lead to each target in each state, with those that are not shown.
    init(_ host: String, _ entries: [ReportEntry], counts: [Digest.Lead: Int] = [:]) {
        self.host = host
        var groups: [String: (state: ResultState, target: Int, places: [String])] = [:]
        var order: [String] = []
        for entry in entries {
            guard let target = target(of: entry) else { continue }
            let state = entry.certificateState
            let place = entry.ip.map { entry.port == 443 ? $0 : "\($0) port \(entry.port)" } ?? entry.place
            let key = entries.count > Self.mostSingle ? "\(target) \(state)" : "\(order.count)"
            if groups[key] == nil { order.append(key) }
            groups[key, default: (state, target, [])].places.append(place)
        }
        for case let group? in order.map({ groups[$0] }) {
            let lead = Digest.Lead(key: targets[group.target].key, state: group.state)
            let isGroup = entries.count > Self.mostSingle
            let count = isGroup ? max(counts[lead] ?? 0, group.places.count) : 1
            let more = count > 1 ? "\(Words.grouped(count)) IPs: " : ""
            let rest = count > 1 ? ", …" : ""
            sources.append(
                Source(label: "\(more)\(group.places[0])\(rest)", state: group.state, target: group.target)
            )
        }
        countAll(counts)
    }

    private mutating func countAll(_ counts: [Digest.Lead: Int]) {
        for index in targets.indices {
            let all = counts.filter { $0.key.key == targets[index].key }.map(\.value).reduce(0, +)
            targets[index].count = max(all, targets[index].count)
        }
    }

    /// Returns the index of what the entry leads to; `nil` if the picture has no room for it.
    private mutating func target(of entry: ReportEntry) -> Int? {
        let (key, state) = (entry.leadKey, entry.certificateState)
        if let index = targets.firstIndex(where: { $0.key == key }) {
            targets[index].count += 1
            if state == .fail || targets[index].state == .ok { targets[index].state = state }
            return index
        }
        guard targets.count < Self.mostTargets else { return nil }
        var (label, detail) = ("no certificate", entry.faults.first?.text ?? "without TLS")
        if let certificate = entry.certificate {
            label = certificate.hash.prefix(8) + " " + (certificate.names.first ?? "no name")
            detail = certificate.notAfter.map { "until \(UTC.day($0))" } ?? "end unknown"
        }
        targets.append(Target(key: key, label: label, detail: detail, state: state, count: 1))
        return targets.count - 1
    }

    /// What the picture shows, in words.
    var words: String {
        targets.map { target in
            let unit = target.count == 1 ? "IP" : "IPs"
            let verb = target.label == "no certificate" ? "with" : target.count == 1 ? "serves" : "serve"
            return
                "\(Words.grouped(target.count)) \(unit) \(verb) \(target.label) (\(target.detail); \(target.state.word))"
        }.joined(separator: ". ") + "."
    }

    /// Writes the picture. The number makes its identifiers unique in the page.
    func write(to page: inout HTMLPage, number: Int) {
        let height = max(sources.count * 24, targets.count * 44) + 12
        let title = "Certificates of \(PlainText.cut(host, to: 80))"
        page.picture("pool-\(number)", height: height, title: title, words: words) { page in
            for (index, source) in sources.enumerated() {
                let y = middle(index, of: sources.count, height: height)
                draw(source, y: y, height: height, to: &page)
            }
            for (index, target) in targets.enumerated() {
                draw(target, y: middle(index, of: targets.count, height: height), to: &page)
            }
        }
    }

    private func middle(_ index: Int, of count: Int, height: Int) -> Int {
        height * (2 * index + 1) / (2 * max(count, 1))
    }

    private func draw(_ source: Source, y: Int, height: Int, to page: inout HTMLPage) {
        let end = middle(source.target, of: targets.count, height: height)
        let name = source.state.rawValue
        page.shape("path", ["class": name, "d": "M400 \(y)C470 \(y) 470 \(end) 540 \(end)"])
        page.shape("circle", ["class": name, "cx": "400", "cy": "\(y)", "r": "4"])
        page.element("text", ["class": name, "x": "0", "y": "\(y + 4)"], text: source.state.word)
        page.element("text", ["x": "44", "y": "\(y + 4)"], text: PlainText.cut(source.label, to: 46))
    }

    private func draw(_ target: Target, y: Int, to page: inout HTMLPage) {
        page.shape(
            "rect",
            ["class": target.state.rawValue, "x": "540", "y": "\(y - 14)", "width": "4", "height": "30"]
        )
        page.element("text", ["x": "552", "y": "\(y - 1)"], text: PlainText.cut(target.label, to: 46))
        page.element(
            "text",
            ["class": "soft", "x": "552", "y": "\(y + 15)"],
            text: PlainText.cut(target.detail, to: 46)
        )
    }
}
