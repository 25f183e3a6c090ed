internal import DirectCore
internal import DirectHTTP
internal import DirectIO

extension ServiceClient {
    /// Asks the service for its servers in the background if that is due. Queries use the present ones
    /// meanwhile.
    func updateServers(on loop: EventLoop) {
        guard let format = format as? any ScheduledFormat,
            let version = list.withLock({ $0.beginUpdate(at: loop.now) })
        else { return }
        Task(executorPreference: client.threads) { [weak self] in
            await self?.update(by: format, from: version, on: loop)
        }
    }

    /// Asks the present servers in order which ones to use.
    private func update(by format: any ScheduledFormat, from version: Int, on loop: EventLoop) async {
        let order = list.withLock { $0.order(at: loop.now) }
        for server in order.prefix(max(1, settings.maximumAttempts)) {
            let context = ResolveContext(within: settings.attemptTimeout, on: loop)
            guard let addresses = try? await servers(by: format, from: server.endpoint, within: context)
            else {
                continue
            }
            return list.withLock { $0.endUpdate(addresses, from: version, at: loop.now) }
        }
        list.withLock { $0.endUpdate(nil, from: version, at: loop.now) }
    }

    private func servers(
        by format: any ScheduledFormat,
        from server: Endpoint,
        within context: ResolveContext
    ) async throws -> [IPAddress] {
        let question = ServiceQuestion(target: format.scheduleTarget)
        let limit = settings.attemptTimeout
        let response = try await fetch(question, from: server, limit: limit, within: context)
        return try format.scheduledServers(response)
    }
}

extension ServiceClient {
    /// Returns the addresses of several names, with as few requests as the service allows. A name that is
    /// given twice is asked for once.
    func resolve(_ hosts: [DomainName], context: ResolveContext) async
        -> [DomainName: Result<Resolution, any Error>]
    {
        guard let format = format as? any BatchFormat else { return [:] }
        let hosts = hosts.withoutRepeats
        return await withTaskGroup(of: [DomainName: Result<Resolution, any Error>].self) { group in
            for start in stride(from: 0, to: hosts.count, by: format.mostNames) {
                let some = Array(hosts[start..<min(start + format.mostNames, hosts.count)])
                group.addTask {
                    let answers = await self.ask(format, hosts: some, context: context)
                    if let deliver = context.delivery {
                        for (host, answer) in answers { deliver(host, answer) }
                    }
                    return answers
                }
            }
            return await group.reduce(into: [:]) { all, some in all.merge(some) { first, _ in first } }
        }
    }

    /// Asks for these names, all different, with one request. A single name is asked for as usual.
    private func ask(_ format: any BatchFormat, hosts: [DomainName], context: ResolveContext) async
        -> [DomainName: Result<Resolution, any Error>]
    {
        do {
            if hosts.count == 1 {
                let answer = try await resolve(hosts[0], context: context)
                return [hosts[0]: .success(answer)]
            }
            let (answers, _) = try await firstAnswer(within: context) { server, limit in
                let (response, _) = try await fetch(from: server, limit: limit(), within: context) {
                    try format.question(hosts, families: settings.families, at: date(on: context.loop))
                }
                return try format.answers(response)
            }
            let now = context.loop.now
            return Dictionary(uniqueKeysWithValues: hosts.map { ($0, resolution($0, in: answers, at: now)) })
        } catch {
            return Dictionary(uniqueKeysWithValues: hosts.map { ($0, .failure(error)) })
        }
    }

    private func resolution(
        _ host: DomainName,
        in answers: BatchAnswers,
        at now: Instant
    ) -> Publication.Outcome {
        guard let answer = answers[host] else {
            return .failure(ResolverError(name, .malformed("the answer does not have the name")))
        }
        var inquiry = Inquiry(host, records: nil, by: name, settings, from: now, recordsEnd: now)
        for query in inquiry.begin(.addresses(host), types: [0]) {
            let answer = answer.mapError { ResolverError(name, $0) }
            inquiry.note(Inquiry.Verdict(answer: answer), to: query, at: now)
        }
        return inquiry.view().outcome.map(asOwn)
    }
}
