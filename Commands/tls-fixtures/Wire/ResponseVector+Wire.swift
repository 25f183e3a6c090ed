internal import DirectCore
internal import DirectHTTP1
internal import TLSFixtures

extension ResponseVector {
    /// Serves the bytes of the response: without TLS, with it, and for our own client in TLS records of other
    /// sizes.
    func trials(_ authority: WireAuthority) -> Trials {
        if bytes.upgrade || bytes.method == .connect || expect.outcome == "tunnel" {
            return .unsuitable("a tunnel is not a response that a client hands out")
        }
        let whole = [bytes.input]
        var plans = [
            plan("without TLS", scheme: "http", pieces: whole, authority),
            plan("over TLS", scheme: "https", pieces: whole, authority),
        ]
        for (label, pieces) in splits {
            var plan = plan(label, scheme: "https", pieces: pieces, authority)
            plan.isThorough = true
            plans.append(plan)
        }
        return .plans(plans)
    }

    /// The input in TLS records of one byte, and in two records.
    private var splits: [(label: String, pieces: [[UInt8]])] {
        let input = bytes.input
        guard input.count > 1, input.count <= 2000 else { return [] }
        var splits = [(label: "in records of one byte", pieces: input.map { [$0] })]
        for cut in Set([input.count / 3, input.count / 2, input.count - 1]).sorted() where cut > 0 {
            let pieces = [Array(input[..<cut]), Array(input[cut...])]
            splits.append((label: "in two records, of \(cut) bytes and the rest", pieces: pieces))
        }
        return splits
    }

    private func plan(
        _ label: String,
        scheme: String,
        pieces: [[UInt8]],
        _ authority: WireAuthority
    ) -> TrialPlan {
        // Behind a reset a client may hear of it before it has read what came.
        let isLost = bytes.hasCleanEnd == false && scheme == "http" && expect.outcome == "end"
        let reason = isLost ? "whether it reads what came before the reset is chance" : nil
        return TrialPlan(label: label, reasonToSpareOthers: reason) {
            let place = Place(scheme: scheme, host: Self.host, port: scheme == "https" ? 443 : 80)
            let servers = try NamedServers([place], authority: authority) { scheme in
                let steps = steps(pieces, scheme: scheme)
                // A client that tries again after a fault must see the same fault again.
                guard asksAgain else { return .bytes(ByteScript([.awaitHead] + steps)) }
                // The first connection is that of the first request: a client may open one to spare.
                let isAsked = Locked(false)
                return .http { _ in
                    let isFirst = isAsked.withLock { isAsked in
                        defer { isAsked = true }
                        return !isAsked
                    }
                    return .script(isFirst ? ByteScript(steps) : [.send(Self.answer(Self.elsewhere))])
                }
            }
            var first = Job.Request(url: "\(scheme)://\(Self.host)/")
            first.method = "\(bytes.method)"
            var requests = [first]
            if asksAgain { requests.append(Job.Request(url: "\(scheme)://\(Self.host)/again")) }
            var job = Job(
                topic: head.topic.rawValue,
                vector: head.name,
                roots: authority.rootFile,
                routes: servers.routes,
                requests: requests
            )
            if asksAgain { job.kept = [.connections] }
            job.settings.leniency = settings.leniency
            job.settings.limits = settings.limits
            return Trial(job: job, on: servers) { outcome, facts in
                differences(outcome, facts: facts)
                    + reuseDifferences(outcome, records: servers.records(scheme))
            }
        }
    }

    private static let host = "a.test"
    /// The contents of the responses to a second request, on the first connection and on a later one.
    private static let here = "on the first connection"
    private static let elsewhere = "on another connection"

    private static func answer(_ text: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
    }

    /// Whether the vector says what becomes of the connection, so that a second request is made.
    private var asksAgain: Bool {
        expect.outcome == "end" && (expect.reuse != nil || expect.leftover != nil)
    }

    /// What the server does behind the head of the first request.
    private func steps(_ pieces: [[UInt8]], scheme: String) -> [ByteScript.Step] {
        let ends: [ByteScript.Step]
        switch bytes.hasCleanEnd {
        case true?: ends = []
        // Without TLS only a reset differs from an end in order.
        case false?: ends = [scheme == "https" ? .cut : .reset]
        case nil where expect.outcome == "open":
            // The client would wait, so the connection is lost: what has come is not a response.
            ends = [scheme == "https" ? .cut : .reset]
        // A server that has announced the end answers no more; it waits to see whether it is asked.
        case nil where expect.reuse == "serverCloses": ends = [.closeIfAsked, .awaitHead]
        case nil where expect.outcome == "end":
            ends = [.closeIfAsked, .awaitHead, .send(Self.answer(Self.here))]
        case nil: ends = []
        }
        return pieces.map { .send($0) } + ends
    }

    /// Compares the result of the first request with each right answer, until one fits. This package's client
    /// has to give the first.
    private func differences(_ outcome: JobOutcome, facts: ClientDescription) -> [Difference] {
        let found = differences(outcome, from: expect, facts: facts)
        guard !found.isEmpty, !facts.givesReasons else { return found }
        let others = answers.dropFirst().map { differences(outcome, from: $0, facts: facts) }
        // One that differs by choices alone is right as well.
        return others.first(where: \.isEmpty)
            ?? others.first { $0.allSatisfy { $0.right == .choice } } ?? found
    }

    private func differences(
        _ outcome: JobOutcome,
        from expect: Expectation,
        facts: ClientDescription
    ) -> [Difference] {
        guard case .done(let outcomes) = outcome, let first = outcomes.first else {
            return [Difference(what: "outcome", expected: expect.outcome, got: outcome.last.word)]
        }
        guard expect.outcome == "end" else {
            if first.response != nil {
                return [Difference(what: "outcome", expected: "an error: \(expect.outcome)", got: first.word)]
            }
            // A connection that is lost without TLS has no fault of the codec.
            guard facts.givesReasons, expect.outcome != "open",
                case .failed(_, let detail?, _) = first.result
            else { return [] }
            return Difference.between("fault", expected: expect.outcome, got: detail)
        }
        guard let got = first.response else {
            return [Difference(what: "outcome", expected: "end", got: first.word)]
        }
        var found: [Difference] = []
        if let status = got.status {
            found += Difference.between("status", expected: expect.status.map(Int.init), got: status)
        }
        if let reason = got.reason {
            let differences = textDifferences("reason", expected: expect.reason, got: [reason])
            // A client should ignore it (RFC 9112, section 4), but must put nothing else in its place.
            let isJudged = facts.givesReasons || holdsMoreThanReason(reason)
            found += isJudged ? differences : differences.judged(by: .choice)
        }
        // Another client may report the version in which it processed the message (RFC 9110, section 6.2).
        if let version = got.version, facts.givesReasons {
            let wanted = expect.version.map { String($0.dropFirst("HTTP/".count)) }
            found += Difference.between("version", expected: wanted, got: version)
        }
        found += Difference.between("content", expected: expect.content, got: got.body)
        if !got.fields.isEmpty, let wanted = expect.headers {
            found += fieldDifferences("header", expected: wanted, got: got.fields)
        }
        if let trailers = got.trailers, let wanted = expect.trailers {
            found += fieldDifferences("trailer", expected: wanted, got: trailers)
        }
        if let interims = got.interims {
            found += Difference.between("interims", expected: expect.interims, got: interims)
        }
        return found
    }

    /// Whether what a client hands out as the reason has a line end, or a line of the head behind the first.
    private func holdsMoreThanReason(_ text: String) -> Bool {
        let lines = bytes.input.split { $0 == 13 || $0 == 10 }.dropFirst().map { $0.trimmed.latin1 }
        return text.unicodeScalars.contains { "\r\n\0".unicodeScalars.contains($0) }
            || lines.contains { !$0.isEmpty && text.contains($0) }
    }

    /// Compares fields name by name. Clients may join several values of a name, and may keep the fields of
    /// the framing to themselves.
    private func fieldDifferences(
        _ what: String,
        expected wanted: [[String]],
        got: [(name: String, value: String)]
    ) -> [Difference] {
        let ownedByClient = ["content-length", "transfer-encoding", "trailer", "connection", "keep-alive"]
        var found: [Difference] = []
        var seen: Set<String> = []
        for name in wanted.map({ $0[0].lowercased() }) where seen.insert(name).inserted {
            let values = got.filter { $0.name.lowercased() == name }.map(\.value)
            if values.isEmpty && ownedByClient.contains(name) { continue }
            let expected = wanted.filter { $0[0].lowercased() == name }.map { $0[1] }
            let text = expected.joined(separator: ", ")
            found += textDifferences("\(what) \(name)", expected: text, got: values)
        }
        // A client may add what it knows of a response, but nothing from elsewhere in the message.
        let input = bytes.input.latin1.lowercased()
        for field in got where !seen.contains(field.name.lowercased()) {
            guard input.contains("\(field.name.lowercased()):") else { continue }
            found.append(Difference(what: "\(what) \(field.name)", expected: "none", got: field.value))
        }
        return found
    }

    /// Compares a text with values whose characters are bytes. The text is either these bytes in UTF-8 or, if
    /// they are not UTF-8, their characters.
    private func textDifferences(_ what: String, expected: String?, got: [String]) -> [Difference] {
        let text = got.isEmpty ? "none" : got.joined(separator: ", ")
        if text == expected || hasFolds && text.withSingleSpaces == expected?.withSingleSpaces { return [] }
        return Difference.between(what, expected: expected, got: text.latin1AsUTF8)
    }

    /// Whether a field line is folded. A fold may become any number of spaces (RFC 9112, section 5.2).
    private var hasFolds: Bool {
        bytes.input.contains([13, 10, 32]) || bytes.input.contains([13, 10, 9])
    }

    /// Compares the result of the second request: whether the connection was used again, and whether bytes
    /// behind the first response were taken for the second.
    private func reuseDifferences(_ outcome: JobOutcome, records: [ConnectionRecord]) -> [Difference] {
        guard asksAgain, case .done(let outcomes) = outcome, outcomes.count == 2,
            outcomes[0].response != nil
        else { return [] }
        let received = records.first { !$0.received.isEmpty }?.received ?? []
        let isReused = received.countOfHeads > 1
        var found: [Difference] = []
        if let reuse = expect.reuse, reuse != "reusable", isReused {
            found.append(
                Difference(what: "connection", expected: "not used again: \(reuse)", got: "used again")
            )
        }
        if let second = outcomes[1].response {
            let text = String(decoding: second.body, as: UTF8.self)
            let wanted = isReused ? Self.here : Self.elsewhere
            found += Difference.between("the response to a second request", expected: wanted, got: text)
        }
        return found
    }
}

extension [UInt8] {
    /// The number of empty lines that end a head.
    fileprivate var countOfHeads: Int {
        let end: [UInt8] = [13, 10, 13, 10]
        return indices.count { self[$0...].starts(with: end) }
    }
}

extension String {
    fileprivate var withSingleSpaces: [Substring] { split(separator: " ") }

    /// The text whose UTF-8 bytes are the characters of this one, as clients report fields.
    var latin1AsUTF8: String {
        // With other characters it is not what bytes were given as, and is shown as it is.
        latin1Bytes.map { String(decoding: $0, as: UTF8.self) } ?? self
    }
}
