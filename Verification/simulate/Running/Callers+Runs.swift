internal import CSimulation
internal import DirectCore
internal import DirectHTTP
internal import DirectResolvers

/// The runs of a program that keeps files.
extension Callers {
    /// Makes all runs, one after the other. Calls that a power failure has interrupted go on beside the next
    /// run, like those of another machine: what they do to their disk no longer matters.
    func makeRuns(_ keeping: KeepingPlan) async {
        var prefix = Self.prefix(ofRun: 0)
        for number in 0...keeping.ends.count {
            let run = ProgramRun(number: number, prefix: prefix, begin: kernel.now)
            world.runs.append(run)
            await load(run)
            guard number < keeping.ends.count else {
                await finish(run, after: startCalls(of: run))
                break
            }
            let end = keeping.ends[number]
            if end.isPowerFailure {
                kernel.count("caller: power failure")
                prefix = Self.prefix(ofRun: number + 1)
                await fail(run, at: end, copyTo: prefix)
            } else {
                kernel.count("caller: restart")
                await finish(run, after: startCalls(of: run))
                if keepsAnswers {
                    // A program would have ended. Nothing of this run asks or saves in the next one.
                    run.answers = nil
                    await kernel.sleep(microseconds: 2_000_000)
                }
            }
            await kernel.sleep(microseconds: end.pause * 1_000_000)
        }
    }

    private static func prefix(ofRun number: Int) -> String {
        String(cString: sim_folder()) + "run\(number)-"
    }

    /// Opens the cache's folder, and reads the files.
    private func load(_ run: ProgramRun) async {
        let judge = KeepingJudge(world, run)
        if let limits = plan.keeping?.cache {
            do throws(CacheError) {
                run.cache = try ResponseCache(
                    folder: run.cachePath,
                    limits: CacheLimits(
                        bytes: limits.bytes,
                        objects: limits.objects,
                        objectBytes: limits.objectBytes
                    ),
                    clock: { [loop = world.loop] in loop.date }
                )
            } catch {
                judge.judge(error)
            }
        }
        if plan.keeping?.cookies != nil {
            run.foundCookies = await judge.found(at: run.cookiePath) {
                try await run.cookies.load(from: run.cookiePath)
            }
            if plan.keeping?.endsSession == true { run.cookies.endSession() }
        }
        if plan.keeping?.keepsHSTS == true {
            run.foundHSTS = await judge.found(at: run.hstsPath) {
                try await run.hsts.load(from: run.hstsPath)
            }
            judge.noteFoundPolicies()
        }
        // The cache reads it when the first name is asked for.
        if keepsAnswers { _ = await judge.found(at: run.answersPath) { [] } }
    }

    private var keepsAnswers: Bool { plan.resolvers?.cache?.isKept == true }

    /// Starts the calls of a run, and the task that saves its files from time to time.
    private func startCalls(of run: ProgramRun) -> [Task<Void, Never>] {
        let client = world.newClient(ClientMaker(world, run: run).configuration)
        var tasks: [Task<Void, Never>] = []
        var numbers = plan.calls.indices.filter { plan.run(ofCall: $0) == run.number }[...]
        while let first = numbers.popFirst() {
            let more = numbers.prefix { plan.calls[$0].follows }
            numbers = numbers.dropFirst(more.count)
            tasks.append(start([first] + more, with: client))
        }
        return tasks
    }

    /// Ends a run as a program should: when its calls are over it saves its files.
    private func finish(_ run: ProgramRun, after tasks: [Task<Void, Never>]) async {
        let saving = Task { await saveRepeatedly(run) }
        for task in tasks { await task.value }
        run.isOver = true
        await saving.value
        run.saved = kernel.now
        await save(run)
    }

    /// Lets the power fail at a time, or before a call of the disk.
    private func fail(_ run: ProgramRun, at end: KeepingPlan.End, copyTo prefix: String) async {
        let saving = Task { await saveRepeatedly(run) }
        await withUnsafeContinuation { continuation in
            let fail = { [world, kernel] in
                guard !run.isOver else { return }
                (run.isOver, run.hasFailed) = (true, true)
                kernel.note("power failure", place: run.number)
                kernel.disk.beforeCall = {}
                kernel.disk.copyAfterPowerFailure(from: run.prefix, to: prefix)
                world.kernel.after(nanoseconds: 1000) { continuation.resume() }
            }
            var calls = 0
            kernel.disk.beforeCall = { [kernel] in
                calls += 1
                guard calls == end.diskCall else { return }
                kernel.count("caller: power failure before a call of the disk")
                fail()
            }
            kernel.after(nanoseconds: UInt64(end.time) * 1000, fail)
            _ = startCalls(of: run)
        }
        await saving.value
    }

    private func saveRepeatedly(_ run: ProgramRun) async {
        guard let keeping = plan.keeping else { return }
        for _ in 0..<Self.mostSaves {
            await kernel.sleep(microseconds: keeping.savePause)
            if run.isOver { return }
            await save(run)
        }
    }

    /// A run may take hours, because a server stalls.
    private static let mostSaves = 40

    private func save(_ run: ProgramRun) async {
        let judge = KeepingJudge(world, run)
        if let format = plan.keeping?.cookies {
            let known = judge.certainCookies
            await judge.saved(run.cookiePath, mentioning: known) {
                try await run.cookies.save(to: run.cookiePath, as: format == .json ? .json : .netscape)
            }
        }
        if plan.keeping?.keepsHSTS == true {
            let known = judge.certainPolicies
            await judge.saved(run.hstsPath, mentioning: known) { try await run.hsts.save(to: run.hstsPath) }
        }
        if let answers = run.answers {
            let known = judge.certainAnswers
            await judge.savedAnswers(mentioning: known) { try await answers.save() }
        }
    }
}
