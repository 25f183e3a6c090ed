internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// Judges what a program keeps in files: state files are whole, and cookies sent are those that were kept.
struct KeepingJudge {
    private let world: World
    private let run: ProgramRun
    private var plan: Plan { world.plan }
    private var kernel: Kernel { world.kernel }

    init(_ world: World, _ run: ProgramRun) {
        self.world = world
        self.run = run
    }

    /// The judge of a call's run; `nil` if the program keeps no files.
    init?(_ world: World, call number: Int) {
        guard world.plan.keeping != nil else { return nil }
        self.init(world, world.runs[world.plan.run(ofCall: number)])
    }

    // MARK: Files

    /// What a file must have in the end that was known when its saving began.
    enum Kept {
        case cookie(CookieKind, host: Int)
        case name(host: Int)
    }

    /// The words of which the file has one. A cookie may have got another value meanwhile.
    private func words(for kept: Kept) -> [String] {
        switch kept {
        case .name(let host): [Material.name(host)]
        case .cookie(let kind, let host):
            world.setCookies.filter { $0.host == host && $0.kind == kind }.map(\.value)
        }
    }

    /// Judges what a run finds at a path, and returns the text that it has read.
    func found(at path: String, _ load: () async throws -> [LineFault]) async -> String {
        let bytes = kernel.disk.bytes(of: path)
        kernel.count("judge: state file that is found")
        let name = String(path.dropFirst(run.prefix.count))
        let states = world.savedStates[name, default: []]
        // After a power failure an earlier state, or none, is the last one.
        defer {
            if bytes != states.last?.bytes {
                let found = bytes.map { World.SavedState(bytes: $0, certain: $0.count) }
                world.savedStates[name] = found.map { states + [$0] } ?? []
            }
        }
        // A file that is appended to exists before its first line, and has saved nothing until then.
        if let bytes, !bytes.isEmpty, !states.contains(where: { $0.mayBe(bytes) }) {
            world.fault("state file", "run \(run.number) finds \(bytes.count) bytes that were never saved")
        }
        let isRestart = run.number > 0 && plan.keeping?.ends[run.number - 1].isPowerFailure == false
        if isRestart, (bytes ?? []) != (states.last?.bytes ?? []) {
            world.fault("state file", "run \(run.number) does not find what was saved last")
        }
        do {
            let faults = try await load()
            if let fault = faults.first { world.fault("state file", "run \(run.number): \(fault)") }
        } catch {
            judgeError(error)
            return ""
        }
        return bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Saves a file, and judges it: it has all that had to be in it when the saving began, or is as before.
    func saved(_ path: String, mentioning known: [Kept], by save: () async throws -> Void) async {
        let before = kernel.disk.bytes(of: path)
        do {
            try await save()
            // After a power failure the run goes on only as far as it had come.
            kernel.count("judge: saved state file")
            judge(path, has: known)
        } catch {
            kernel.count("caller: save failed")
            judgeError(error)
            if kernel.disk.bytes(of: path) != before {
                world.fault("state file", "\(path) has changed although saving has failed")
            }
        }
    }

    /// Saves the answers of resolvers, and judges their file. The cache saves it, too, after each change.
    func savedAnswers(mentioning known: [Kept], _ save: () async throws -> Void) async {
        do {
            try await save()
            kernel.count("judge: saved answers")
            judge(run.answersPath, has: known)
        } catch {
            kernel.count("caller: save failed")
            judgeError(error)
        }
    }

    /// The names of the hosts whose addresses the cache must have: a call has used them, and they may still
    /// be used when the file is written. What may not leaves it (`CachingResolver.save`).
    var certainAnswers: [Kept] {
        let judge = ResolverJudge(world: world)
        guard judge.areAnswersKept else { return [] }
        return plan.hosts.indices.filter { host in
            judge.isAnswerAlive(ofHost: host)
                && plan.calls.indices.contains { number in
                    plan.run(ofCall: number) == run.number && plan.calls[number].host == host
                        && world.calls[number].reply != nil && !world.calls[number].tries.isEmpty
                }
        }.map { .name(host: $0) }
    }

    /// Judges whether a file that was saved mentions what was known.
    private func judge(_ path: String, has known: [Kept]) {
        let text = kernel.disk.bytes(of: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
        for kept in known where !words(for: kept).contains(where: { text.contains($0) }) {
            world.fault("state file", "run \(run.number) has saved \(path) without \(words(for: kept))")
        }
    }

    private func judgeError(_ error: any Error) {
        if !(error is SystemError) { world.fault("error", "a state file: \(type(of: error)): \(error)") }
        if plan.disk == nil { world.fault("state file", "the disk works: \(error)") }
    }

    /// Judges the reason why the folder of a cache cannot be opened.
    func judge(_ error: CacheError) {
        kernel.count("caller: no cache folder")
        if plan.disk == nil { world.fault("state file", "the disk works: \(error)") }
    }

    // MARK: Cookies

    /// The cookies that the client must have.
    var certainCookies: [Kept] {
        var all: [Kept] = []
        for host in plan.hosts.indices {
            for kind in CookieKind.allCases where kind != .tabbed || plan.keeping?.cookies == .json {
                if !certain(kind, of: host, before: kernel.now).isEmpty {
                    all.append(.cookie(kind, host: host))
                }
            }
        }
        return all
    }

    /// Returns the cookies that the run must have had at a time, and that have not expired by now.
    private func certain(_ kind: CookieKind, of host: Int, before time: UInt64) -> [SetCookie] {
        world.setCookies.filter { cookie in
            guard cookie.host == host, cookie.kind == kind, !hasEnded(cookie) else { return false }
            if let lifetime = kind.lifetime,
                kernel.now + plan.clockAhead + 1_500_000_000 >= cookie.firstSent + UInt64(lifetime)
                    * 1_000_000_000
            {
                return false
            }
            if run.foundCookies.contains(cookie.value) { return run.begin < time }
            return plan.run(ofCall: cookie.number) == run.number && cookie.certain.map { $0 < time } ?? false
        }
    }

    /// Whether a cookie was one of a session before.
    private func hasEnded(_ cookie: SetCookie) -> Bool {
        cookie.kind == .session && plan.keeping?.endsSession == true
            && plan.run(ofCall: cookie.number) < run.number
    }

    /// Judges the cookies of a request.
    func judge(_ head: ReceivedHead, of number: Int, host: Int) {
        guard plan.keeping?.cookies != nil, let start = world.calls[number].start else { return }
        kernel.count("judge: cookies of a request")
        var sent: [String: String] = [:]
        for field in head.fields where field.name == "cookie" {
            for pair in field.value.split(separator: ";") {
                let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                if parts.count == 2 { sent[String(parts[0])] = String(parts[1]) }
            }
        }
        for (name, value) in sent.sorted(by: { $0.key < $1.key }) {
            judge(name: name, value: value, of: number, host: host, start: start)
        }
        for kind in CookieKind.allCases where sent[kind.name] == nil {
            guard let cookie = certain(kind, of: host, before: start).first else { continue }
            world.fault("cookies", "call \(number) of run \(run.number) lacks \(cookie.value)")
        }
    }

    private func judge(name: String, value: String, of number: Int, host: Int, start: UInt64) {
        guard
            let cookie = world.setCookies.first(where: {
                $0.host == host && $0.kind.name == name && $0.value == value
            })
        else { return world.fault("cookies", "call \(number) sends \(name)=\(value) to host \(host)") }
        let origin = plan.run(ofCall: cookie.number)
        if origin != run.number {
            kernel.count("judge: cookie of an earlier run")
            if !run.foundCookies.contains(value) {
                world.fault("cookies", "call \(number) sends \(value), which was not kept")
            }
            if hasEnded(cookie) {
                world.fault("cookies", "call \(number) sends \(value) of a session that has ended")
            }
        }
        guard let lifetime = cookie.kind.lifetime else { return }
        kernel.count("judge: age of a cookie")
        let taken = max(cookie.lastSent, world.calls[cookie.number].end ?? kernel.now)
        if start > taken + UInt64(lifetime) * 1_000_000_000 + 1_500_000_000 + plan.clockBehind {
            world.fault("cookies", "call \(number) sends \(value), which has expired")
        }
    }

    // MARK: TLS only

    /// The names whose policy to use TLS only (HSTS) the client must know.
    var certainPolicies: [Kept] {
        plan.hosts.indices.filter { isStrict($0, before: kernel.now) }.map { .name(host: $0) }
    }

    /// Whether the run knew at a time that the host wants TLS only.
    func isStrict(_ host: Int, before time: UInt64) -> Bool {
        world.isStrict(host, run: run.number, before: time)
    }

    /// Notes the policies that were kept. The file may be older than the latest one that was learned, so they
    /// count from the first time that they were sent, also with a redirect.
    func noteFoundPolicies() {
        let names = run.foundHSTS.split(whereSeparator: \.isWhitespace).map { String($0.drop { $0 == "." }) }
        for host in plan.hosts.indices where names.contains(Material.name(host)) {
            let earlier = (0..<run.number).compactMap {
                world.sentPolicies[World.Policy(run: $0, host: host)]
            }
            guard let learned = earlier.min() else { continue }
            kernel.count("judge: policy that was kept")
            world.strictSince[World.Policy(run: run.number, host: host)] = (learned, kernel.now)
        }
    }
}
