internal import DirectCore
internal import DirectHTTP

/// Judges questions to resolvers, and the use of their answers.
struct ResolverJudge {
    let world: World
    var plan: Plan { world.plan }
    private var kernel: Kernel { world.kernel }

    // MARK: Questions

    /// The fields that a question may have. None of them is one of the user's.
    private static let fields: Set<String> = [
        "host", "user-agent", "accept", "accept-encoding", "content-type", "content-length",
    ]

    /// A question goes to the resolver by its name, and has nothing of the requests that it is asked for.
    func judge(_ head: ReceivedHead, serverName: String?, isSecure: Bool) {
        kernel.count("judge: request to a resolver")
        if isSecure, serverName != Material.resolverName {
            world.fault("name", "the server name is \(serverName ?? "missing") at a resolver")
        }
        if head.value(of: "host") != Material.resolverName {
            world.fault("name", "Host is \(head.value(of: "host") ?? "missing") at a resolver")
        }
        for (name, value) in head.fields where !Self.fields.contains(name) || value.reveals("secret") {
            world.fault("secrets", "a resolver got \(name): \(value)")
        }
        if head.target.reveals("secret") { world.fault("secrets", "a resolver got \(head.target)") }
    }

    /// A question is not repeated while a fresh answer is known, or on its way.
    func judge(_ question: ResolverQuestion, host: Int) {
        guard let resolvers = plan.resolvers else { return }
        let span = resolvers.span(seconds: min(resolvers.lifetime, resolvers.freshness ?? .max))
        for type in question.types {
            let key = "\(host) \(type)"
            defer { world.lastQuestions[key] = (kernel.now, world.runs.count) }
            guard areAnswersKept, let (last, run) = world.lastQuestions[key] else { continue }
            // In the last tenth of its time an answer is asked for anew; questions under way have 0.5 s.
            var soonest = span / 10 * 9
            if run != world.runs.count {
                guard isSaved(since: last, host: host, run: world.runs[run - 1]) else { continue }
                kernel.count("judge: question after a restart")
                // The file has whole seconds.
                soonest -= min(soonest, 2_000_000_000)
            }
            kernel.count("judge: repeated question")
            if soonest > 500_000_000 + world.slack, kernel.now - last < soonest - 500_000_000 - world.slack {
                world.fault("repeated question", "\(question.name) again after \((kernel.now - last) / 1000)")
            }
        }
    }

    /// A service is asked for its servers only if the client wants that, and not again for a minute, or for
    /// the time that the client has set if that is shorter.
    func judgeListQuestion(toService number: Int) {
        guard let resolvers = plan.resolvers, let time = resolvers.services[number].listTime else {
            return world.fault("resolver", "service \(number) is asked for its servers")
        }
        // A program that keeps files has several clients, one after the other.
        guard resolvers.isGood, isCalm, plan.keeping == nil, let last = world.listAnswers[number] else {
            return
        }
        kernel.count("judge: question for the servers")
        if kernel.now + world.slack < last + UInt64(min(time, 60)) * 1_000_000_000 {
            let passed = (kernel.now - last) / 1000
            world.fault("resolver", "service \(number) is asked for its servers after \(passed) microseconds")
        }
    }

    /// Whether each answer arrives, is kept, and names addresses that can be reached.
    var areAnswersKept: Bool {
        guard let resolvers = plan.resolvers, resolvers.cache != nil, resolvers.isGood else { return false }
        // What lacks one family is asked for again soon; one that is slower than the other is not waited for.
        if resolvers.asksByDatagram, plan.network.shortSends > 0 || !resolvers.answersAtOnce { return false }
        // An answer that misses its records is good for a short time.
        if resolvers.records != nil { return false }
        if let keeping = plan.keeping, plan.disk != nil || !keeping.endsInOrder { return false }
        return isCalm && !plan.namesMayVanish
            && plan.calls.allSatisfy { $0.total == nil && $0.cancellation == nil }
    }

    /// Whether a run had the answer to a question when it saved its files.
    private func isSaved(since question: UInt64, host: Int, run: ProgramRun) -> Bool {
        guard plan.resolvers?.cache?.isKept == true, let saved = run.saved else { return false }
        return world.givenAnswers.contains {
            $0.host == host && $0.time >= question && $0.time + way < saved
        }
    }

    /// Whether an answer has arrived that is good for as long as a file takes to be written. The file has
    /// whole seconds.
    func isAnswerAlive(ofHost host: Int) -> Bool {
        guard let resolvers = plan.resolvers, let cache = resolvers.cache else { return false }
        let span = resolvers.span(seconds: min(resolvers.lifetime, resolvers.freshness ?? .max))
        let end = kernel.now + 1_500_000_000 + world.slack
        return world.givenAnswers.contains {
            $0.host == host && $0.time + way < kernel.now && $0.time + span + UInt64(cache.stale) * 1000 > end
        }
    }

    /// The longest time that an answer is on its way.
    private var way: UInt64 { UInt64(plan.network.longestDelay) * 1000 * 8 + world.slack + longestWait }

    var isCalm: Bool {
        let network = plan.network
        return network.resets == 0 && network.socketFailures == 0 && network.descriptors == nil
            && plan.hosts.allSatisfy { $0.addresses.allSatisfy { $0.fate == .works } }
            && plan.client.connectLimit == nil && !plan.client.isReleasedEarly
    }

    /// The system's resolver is asked only as the last one of the chain, if the others may have failed.
    func judgeSystem(_ name: String) {
        // Where no IPv4 address can be reached, the system is asked for the translator of its network (RFC
        // 7050, section 3), also beside other resolvers.
        guard let resolvers = plan.resolvers, name != "ipv4only.arpa" else { return }
        kernel.count("judge: question to the system")
        let isUnasked =
            resolvers.fallback == .never
            || resolvers.isGood && isCalm && !plan.namesMayVanish && areLimitsWide
        if !resolvers.endsWithSystem || isUnasked || name == Material.resolverName {
            world.fault("resolver", "the system was asked for \(name)")
        }
    }

    private var areLimitsWide: Bool {
        plan.calls.allSatisfy { $0.total == nil && $0.cancellation == nil }
    }

    /// A datagram goes to a server that wants it. The same question is sent three times at most, and a second
    /// passes before each.
    func judgeSending(of datagram: [UInt8], on socket: SimulatedDatagramSocket) {
        kernel.count("judge: datagram to a resolver")
        let place = socket.address.flatMap(world.resolverPlace)
        let service = place.flatMap { plan.resolvers?.services[$0.service] }
        guard let service, service.format == .datagram, socket.port == service.port else {
            let target = socket.address.map { "\($0):\(socket.port)" } ?? "nowhere"
            return world.fault("resolver", "a datagram is sent to \(target)")
        }
        if !Self.isQuestion(datagram) { world.fault("resolver", "the datagram \(datagram)") }
        if socket.sent.count > 3 {
            world.fault("resolver", "a question is sent for the \(socket.sent.count)th time")
        }
        // A second, or a third of the server's time if that is shorter, but a quarter of a second at least.
        if let last = socket.sent.dropLast().last, kernel.now < last + 250_000_000 {
            world.fault("resolver", "a question again after \((kernel.now - last) / 1000)")
        }
    }

    /// Whether a message has one question, asks for recursion, and has nothing else but the record of EDNS.
    private static func isQuestion(_ message: [UInt8]) -> Bool {
        guard let question = ResolverQuestion(message: message),
            [[1], [28], [ResolverQuestion.recordType]].contains(question.types),
            message[2..<11] == [1, 0, 0, 1, 0, 0, 0, 0, 0]
        else { return false }
        let rest = message[question.end...]
        return message[11] == 0
            ? rest.isEmpty : message[11] == 1 && rest.starts(with: [0, 0, 41]) && rest.count == 11
    }

    // MARK: Answers

    /// What is dialled is what a resolver has named.
    func judgeDial(to address: IPAddress, ofHost host: Int) {
        guard plan.resolvers != nil else { return }
        let begins = world.calls.filter { $0.start != nil && !$0.isOver }.compactMap(\.start)
        // A connection that is no longer needed may still be dialled.
        guard let begin = begins.min() else { return }
        kernel.count("judge: dialled address")
        if !isAnswered(address, host: host, since: begin) {
            world.fault("outdated", "\(address) is dialled, which no answer names")
        }
    }

    /// A request goes to an address of an answer that was valid when its call began, or came later.
    func judgeRequest(of number: Int, host: Int, on connection: SimulatedConnection) {
        guard plan.resolvers != nil, connection.isOpenForClient, let address = connection.address,
            let start = world.calls[number].start
        else { return }
        kernel.count("judge: address of a request")
        // A connection to the next resolver's address, or to one of a newer answer, stands in for the answer
        // whose own addresses have failed.
        let standsIn =
            plan.resolvers?.fallback == .onConnectFailure
            || plan.resolvers?.cache != nil && plan.hosts[host].addresses.contains { $0.fate != .works }
        if !isAnswered(address, host: host, since: standsIn ? 0 : start) {
            world.fault("outdated", "call \(number) is sent to \(address), which no answer names")
        }
    }

    private func isAnswered(_ address: IPAddress, host: Int, since begin: UInt64) -> Bool {
        guard let resolvers = plan.resolvers else { return true }
        let stale = UInt64(resolvers.cache?.stale ?? 0) * 1000
        return world.givenAnswers.contains { answer in
            guard answer.host == host, answer.addresses.contains(address) else { return false }
            return answer.time + resolvers.span(seconds: answer.seconds) + stale + way >= begin
        }
    }

    /// The time from an answer's sending until it is kept: the other family's answer may be waited for.
    private var longestWait: UInt64 {
        guard let resolvers = plan.resolvers, !resolvers.isGood || resolvers.records != nil else {
            return plan.resolvers?.asksByDatagram == true ? 2_500_000_000 : 300_000_000
        }
        return UInt64(resolvers.services.map(\.attemptLimit).max() ?? 0) * 1000 * 3
    }

    // MARK: Failures

    /// If no resolver answers, the call fails in the phase of resolving, and at its time.
    func judge(_ error: any Error, ofCall number: Int) {
        guard let resolvers = plan.resolvers, let error = error as? HTTPError, error.phase == .resolve else {
            return
        }
        kernel.count("judge: failure of resolvers")
        switch error.reason {
        case .resolver, .timedOut: break
        default: world.fault("resolver", "call \(number) ended with \(error)")
        }
        let call = plan.calls[number]
        guard world.calls[number].tries.isEmpty, !plan.client.retries, call.isPlain != true,
            let start = world.calls[number].start
        else { return }
        // Addresses of an answer may have been dialled without success before the question.
        guard error.attempts.isEmpty else { return }
        // A server's time begins when its question is sent, which may wait for a descriptor.
        guard plan.network.descriptors == nil else { return }
        let passed = kernel.now - start
        let longest = UInt64(resolvers.longestFailure) * 1000 + 200_000_000 + 3 * world.slack
        if passed > longest {
            world.fault("resolver", "call \(number) failed after \(passed / 1000) microseconds: \(error)")
        }
    }
}
