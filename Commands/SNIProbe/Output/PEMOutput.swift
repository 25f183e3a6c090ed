internal import DirectHTTP

/// PEM output: the certificates that were sent, with comment lines that PEM parsers skip.
final class PEMOutput: BufferedOutput, RecordOutput {
    private let style: Style

    init(_ style: Style, to sink: OutputSink = .standardOutput) {
        self.style = style
        super.init(to: sink)
    }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        let words = record.faults.map { style.safe($0.text, upTo: 200) }.joined(separator: "; ")
        let place =
            record.address.map { " @ \(Endpoint($0, port: record.observation.probe.port))" } ?? ""
        let verdict = words.isEmpty ? "" : "  \(words)"
        buffer.write("# \(record.state.word) \(record.target.name)\(place)\(verdict)\n")
        for (index, certificate) in (record.served?.chain.certificates ?? []).enumerated() {
            buffer.write("# \(index) subject \(style.safe(certificate.subject.full, upTo: 200))\n")
            buffer.write("#   issuer  \(style.safe(certificate.issuer.full, upTo: 200))\n")
            buffer.write(certificate.pem)
        }
    }
}
