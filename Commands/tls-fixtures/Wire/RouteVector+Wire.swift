internal import DirectCore
internal import TLSFixtures

extension RouteVector {
    /// Starts a server at each address.
    func trials(_ folder: VectorFolder) -> Trials {
        let certificates = CertificateFolder(path: folder.certificates)
        let isUpToChance = addresses.contains { $0.server.flatMap(folder.server)?.resetsAtOnce == true }
        let starts = Locked(0)
        return .plans([
            TrialPlan(
                // Most clients try the next address after a failure to connect, and not after one in the
                // handshake.
                reasonToSpareOthers: isUpToChance
                    ? "whether it sees a connection before the reset is chance" : nil,
                // Other load may have made it fail, if it depends on time, or let an address seem silent.
                chances: isAboutTime || isAboutAll ? 5 : 1
            ) {
                // On a busy machine a client may not get to its second attempt while a slow server pauses.
                let isAgain = starts.withLock { starts in
                    defer { starts += 1 }
                    return starts > 0
                }
                let plan = try RoutePlan(self, folder, certificates, slowness: isAgain && !isAboutAll ? 4 : 1)
                var job = job(plan, certificates)
                if isOfStaggers { job.quiet = plan.quietAddresses(folder) }
                let attempts = isAboutAll ? OpenAttempts(at: plan.stage.servers) : nil
                let timing = Locked((start: ContinuousClock.now, usual: Duration.zero))
                let control = alone.map { alone in
                    {
                        let plan = try RoutePlan(alone, folder, certificates)
                        return (
                            job: alone.job(plan, certificates),
                            took: { (took: Duration) in
                                withExtendedLifetime(plan) {}
                                timing.withLock { $0 = (.now, took) }
                            }
                        )
                    }
                }
                return Trial(job: job, control: control) { outcome, facts in
                    let (start, usual) = timing.withLock { $0 }
                    let elapsed = ContinuousClock.now - start - usual * 2
                    let last = outcome.last
                    let records = await plan.stage.records()
                    var differences = lessened(Difference.between([ending], got: last.ending, facts: facts))
                    differences += plan.differences(records, seen: last, givesReasons: facts.givesReasons)
                    differences += timeDifferences(measured: elapsed, held: last.elapsed)
                    for record in records { differences += record.misnamings(host: host, port: plan.port) }
                    if let attempts, differences.isEmpty {
                        differences = differencesOfAll(records.flatMap(\.self))
                        differences += lessened(await attempts.differences())
                    }
                    return differences
                }
            }
        ])
    }

    /// Compares what came on all connections: the request once, on one of them, and the end of each other.
    private func differencesOfAll(_ records: [ConnectionRecord]) -> [Difference] {
        let heads = records.map { $0.receivedText.ranges(of: " HTTP/1.1\r\n").count }
        var differences = Difference.between("requests", expected: requests, got: heads.reduce(0, +))
        if let post {
            let contents = records.flatMap(\.requests).map(\.body)
            if !contents.isEmpty {
                differences += Difference.between("body", expected: post, got: contents[0])
            }
        }
        // RFC 8305, section 5: the other attempts are cancelled.
        let open = zip(records, heads).count { record, heads in heads == 0 && record.end == nil }
        let what = "open connections without a request"
        return lessened(differences + Difference.between(what, expected: 0, got: open))
    }

    /// If addresses have to be left alone, only that is a MUST, and the rest advice.
    private func lessened(_ differences: [Difference]) -> [Difference] {
        guard isAboutAll, head.right == .must, endings.contains(.untried) else { return differences }
        return differences.judged(by: .should)
    }

    /// Compares the time of the request with the limit. By a clock that is held, nothing but a stagger takes
    /// time.
    private func timeDifferences(measured: Duration, held: Duration?) -> [Difference] {
        guard let within else { return [] }
        let limit = Duration.milliseconds(held == nil ? within : within - Self.timeForTheRest)
        let elapsed = held ?? measured
        return elapsed > limit
            ? [Difference(what: "time", expected: "\(limit)", got: "\(elapsed)")] : []
    }

    /// The milliseconds of each limit that are not for staggers.
    private static let timeForTheRest = 500

    private func job(_ plan: RoutePlan, _ certificates: CertificateFolder) -> Job {
        let mapped = plan.texts(of: .map)
        let given = plan.texts(of: .request)
        var job = Job(
            topic: head.topic.rawValue,
            vector: head.name,
            roots: certificates.root,
            routes: [
                Job.Route(
                    host: host.canonicalAddress,
                    port: plan.port,
                    addresses: (mapped ?? given ?? []).map(plan.complete)
                )
            ],
            requests: [Job.Request(url: Job.url(scheme.rawValue, host: host, port: plan.port))]
        )
        if let post {
            job.requests[0].method = "POST"
            job.requests[0].body = post
        }
        // Several addresses may take the time limit of a connection each.
        job.timeout = 8000
        job.settings.usesMap = mapped != nil
        if mapped != nil || addresses.isEmpty || addresses.contains(where: { $0.server == nil }) {
            job.settings.addressTexts = given
        } else if addresses.contains(where: { $0.text != nil }) {
            job.settings.spelling = given
        }
        if dialling.isOfAnotherKind || dialling.stagger != Dialling().stagger {
            job.settings.dialling = dialling
        }
        return job
    }
}
