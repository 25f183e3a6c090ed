internal import DirectCore
internal import DirectHTTP
internal import DirectHello

/// What is asked with hellos that no TLS library writes.
extension ProbeEngine {
    /// Sends the hellos of all surveys that are wanted, one after the other, each over a connection of its
    /// own. Those that are not answered have the time limit of a probe together.
    func surveyHellos(_ observation: Observation) async -> [HelloFinding] {
        guard let first = observation.first, first.tcpTime != nil, !first.endsBeforeTLS else { return [] }
        var wanted = tools.settings.surveys
        // What went without an answer may have been too long for something on the way.
        if first.sentLongHello, !first.hasReceivedBytes { wanted.insert(.sizes) }
        let (hello, patience) = (WrittenHello(to: first.serverName), patience(first))
        var (findings, silence): ([HelloFinding], Duration) = ([], .zero)
        for survey in HelloSurvey.allCases where wanted.contains(survey) {
            let version = first.served?.facts?.version
            var finding = HelloFinding(
                survey,
                spoken: HelloForm.allCases.first { "TLSv\($0.rawValue)" == version }
            )
            while let form = finding.next, silence < tools.settings.timeout {
                let reply = await reply(to: form.pieces(of: hello), observation.probe, patience)
                finding.add(reply)
                if reply == .silent || reply == .unconnected { silence += patience }
            }
            findings.append(finding)
        }
        return findings
    }

    /// The time of one hello: as much as lets every form be tried, and more where the server is known to need
    /// it.
    private func patience(_ first: Handshake) -> Duration {
        let connecting = first.tcpTime ?? .zero
        let answering = first.served == nil ? connecting : first.tlsTime ?? .zero
        let limit = tools.settings.timeout
        return min(limit, max(limit / Double(HelloFinding.mostUnanswered), (connecting + answering) * 3))
    }

    private func reply(to pieces: [[UInt8]], _ probe: Probe, _ patience: Duration) async -> HelloReply {
        // Not between the handshakes that confirm another probe's result.
        let turn = tools.turns.turn(at: probe.endpoint, on: loop)
        _ = await turn.join()
        defer { turn.end() }
        let end = loop.now.advanced(byNanoseconds: patience.clampedNanoseconds)
        let limit = CallLimit(tools.timeouts, until: end)
        do throws(TransportError) {
            let socket = try await probe.connect(within: limit, through: tools.settings.proxy, on: loop)
            defer { socket.close() }
            let dialogue = Preamble(socket: socket, end: end)
            do throws(HandshakeFailure) {
                try await dialogue.run(tools.settings, for: probe)
            } catch {
                return .unconnected
            }
            return await dialogue.reply(to: pieces, pause: tools.settings.pauseOfPieces, signs)
        } catch {
            return .unconnected
        }
    }
}

extension Preamble {
    /// Sends the pieces with a pause between them, and reads what is said in reply, which may come before the
    /// last.
    fileprivate func reply(to pieces: [[UInt8]], pause: Duration, _ signs: SignsOfLife) async -> HelloReply {
        var (answer, rest) = (FirstAnswer(), pieces[...])
        do throws(HandshakeFailure) {
            while true {
                // A server that has closed may have said why.
                if let piece = rest.popFirst() { try? await send(piece) }
                let pauseEnd = socket.loop.now.advanced(byNanoseconds: pause.clampedNanoseconds)
                let end = rest.isEmpty ? self.end : min(pauseEnd, self.end)
                guard let bytes = try await receive(upTo: 4096, until: end) else {
                    if rest.isEmpty { return .silent } else { continue }
                }
                signs.add()
                switch answer.add(bytes) {
                case .needsMore: continue
                case .other: return .other
                case .alert(let number): return .alert(number)
                case .hello(let hello): return .hello(hello)
                }
            }
        } catch {
            return switch error {
            case .closed: .closed
            case .reset: .reset
            case .silentTLS: .silent
            default: .unconnected
            }
        }
    }
}
