/// The time line of the certificates' validity.
struct ValidityPicture {
    let rows: [CertificateList.Row]
    /// The time of the last result, in seconds since 1970.
    let now: Int

    private static let day = 86_400
    private static let mostRows = 40
    /// The days before and after now that are drawn. A validity that goes beyond is cut.
    private static let window = -100...400

    /// The pixels of the time line.
    private static let left = 330
    private static let width = 520

    init(_ rows: [CertificateList.Row], now: Int) {
        self.rows = Array(rows.prefix(Self.mostRows))
        self.now = now
    }

    /// What the picture shows, in words.
    var words: String {
        let ended = rows.count { ($0.certificate.notAfter ?? .max) < now }
        let early = rows.count { ($0.certificate.notBefore ?? .min) > now }
        var parts = [
            "\(Words.count(rows.count, of: "certificate")), the first to end first"
        ]
        if ended > 0 { parts.append("\(ended) ended before \(UTC.day(now))") }
        if early > 0 { parts.append("\(early) not valid yet") }
        return parts.joined(separator: "; ") + ". The table has the dates."
    }

    /// The distance to the end of a certificate, in words.
    static func left(_ certificate: ReportEntry.Certificate, at now: Int) -> String {
        guard let end = certificate.notAfter else { return "unknown" }
        if let begin = certificate.notBefore, begin > now { return "not valid yet" }
        return end < now ? "ended \(Words.days((now - end) / day)) ago" : Words.days((end - now) / day)
    }

    func write(to page: inout HTMLPage) {
        let height = rows.count * 24 + 40
        page.picture("time", height: height, title: "Validity of the certificates", words: words) { page in
            for offset in stride(from: -100, through: 400, by: 100) {
                tick(offset, height: height, to: &page)
            }
            for (index, row) in rows.enumerated() { draw(row, y: index * 24 + 40, to: &page) }
        }
    }

    private func tick(_ offset: Int, height: Int, to page: inout HTMLPage) {
        let x = "\(place(now + offset * Self.day))"
        page.shape(
            "line",
            ["class": offset == 0 ? "now" : "tick", "x1": x, "x2": x, "y1": "20", "y2": "\(height)"]
        )
        page.element(
            "text",
            ["class": offset == 0 ? "now" : "soft", "x": x, "y": "14", "text-anchor": "middle"],
            text: UTC.day(now + offset * Self.day)
        )
    }

    private func draw(_ row: CertificateList.Row, y: Int, to page: inout HTMLPage) {
        let certificate = row.certificate
        let name = certificate.names.first ?? "no name"
        let label = PlainText.cut(certificate.hash.prefix(8) + " " + name, to: 38)
        page.element("text", ["x": "0", "y": "\(y + 4)"], text: label)
        let begin = place(certificate.notBefore ?? .min)
        let end = place(certificate.notAfter ?? .max)
        page.shape(
            "rect",
            [
                "class": state(certificate).rawValue, "x": "\(begin)", "y": "\(y - 7)",
                "width": "\(max(end - begin, 3))", "height": "14", "rx": "2",
            ]
        )
    }

    private func state(_ certificate: ReportEntry.Certificate) -> ResultState {
        let end = certificate.notAfter ?? .max
        if end < now || certificate.notBefore ?? .min > now { return .fail }
        return end < now + 14 * Self.day ? .warn : .ok
    }

    /// The horizontal place of a moment, within the window.
    private func place(_ moment: Int) -> Int {
        let begin = now + Self.window.lowerBound * Self.day
        let end = now + Self.window.upperBound * Self.day
        let inside = min(max(moment, begin), end)
        return Self.left + (inside - begin) * Self.width / (end - begin)
    }
}
