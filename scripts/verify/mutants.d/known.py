"""Faults that the client once had, put into its sources of today. `scripts/verify/simulate-proof` runs simulated worlds with
each of them: a simulation that does not find a known fault would not find an unknown one either."""

from model import Place


def add_to(table):
    """Adds the faults."""
    add_transfers(table)
    add_waits(table)
    add_connections(table)
    add_downloads(table)
    add_security(table)
    add_files(table)
    add_folders(table)
    add_resolvers(table)


def add(table, name, *places):
    """Adds one fault, at one place or at several. Each place is a file, an anchor and what it becomes."""
    file, at, becomes = places[0]
    table.place(name, file, at, becomes, "", members=(name,))
    mutant = table.mutants[-1]
    table.places.extend(Place(*place, mutant) for place in places[1:])


def add_transfers(table):
    """Adds faults of uploads, bodies and bytes."""
    add(
        table, "plain text beside the TLS of a proxy",
        (
            "Connection/Connection.swift", "self.layers = |layers|",
            "(facts.proxy != nil && facts.tls == nil && forwarding == nil ? LayerStack(layers.socket) : layers)",
        ),
    )
    add(
        table, "an upload ends with its response",
        ("Transport/Transport.swift", "guard reading.isAtEnd, |reading.isRequestSent| else", "true"),
        ("Exchange/BodyReading.swift", "if let upload, |!isRequestSent| {", "false"),
    )
    add(
        table, "a refused upload hides what befell its response",
        ("Exchange/Upload.swift", "if case .failed(.cancelled) = new, |isStopped| {", "false"),
    )
    add(
        table, "a reset that only the upload noticed",
        ("Sockets/Socket.swift", "return |wasReset.load(ordering: .relaxed)| ? .failed", "false"),
    )


def add_waits(table):
    """Adds faults of limits and waits."""
    add(
        table, "the limit of a call is not looked at while bytes keep coming",
        ("Waiting/Deadline.swift", "guard |end < .never|, now() >= end else", "false"),
    )
    add(
        table, "no limit while TLS waits for the other direction",
        ("EventLoop/LoopHandle.swift", "await wait(crosswiseAt: writersInput, until: |deadline|)", ".never"),
        ("EventLoop/LoopHandle.swift", "await wait(crosswiseAt: readersOutput, until: |deadline|)", ".never"),
    )
    add(
        table, "a task that always has bytes never yields",
        ("Waiting/YieldCounter.swift", "var isDue: Bool { |moved >= Self.bytesBetweenYields| }", "false"),
    )
    add(
        table, "a proxy restarts its limit with each byte",
        (
            "Proxy/ProxyNegotiation.swift",
            "try deadline.check(at: |connection.loop.now|)\n            if case .moved = step { return }",
            "Instant(nanoseconds: 0)",
        ),
        (
            "Proxy/ProxyNegotiation.swift",
            "if case .moved = step { return }\n            try await connection.wait(for: step, as: .reader, |deadline|)",
            "{ var fresh = deadline; fresh.extend(from: connection.loop.now); return fresh }()",
        ),
        (
            "Proxy/ProxyNegotiation.swift",
            "try deadline.check(at: |connection.loop.now|)\n            if case .moved(let moved) = step {",
            "Instant(nanoseconds: 0)",
        ),
        (
            "Proxy/ProxyNegotiation.swift",
            "} else {\n                try await connection.wait(for: step, as: .reader, |deadline|)",
            "{ var fresh = deadline; fresh.extend(from: connection.loop.now); return fresh }()",
        ),
    )
    add(
        table, "a connection made ahead is held back",
        (
            "Transport/Transport+Connecting.swift", "            let connection = try await |connect(request)|\n            pool.deliver",
            "{ () async throws(DialFailure) -> Connection in let made = try await connect(request); "
            "try? await loop.sleep(until: loop.now.advanced(byNanoseconds: 7_500_000_000)); return made }()",
        ),
    )
    add(
        table, "a retry waits after it has drained",
        (
            "Pipeline/Attempts.swift", "try await loop.sleep(until: |end|)",
            "loop.now.advanced(byNanoseconds: wait.clampedNanoseconds)",
        ),
    )


def add_connections(table):
    """Adds faults of the pool and of addresses."""
    add(
        table, "a client is never released",
        (
            "Client/HTTPClient+Requests.swift", "state = |pipeline|",
            "Unmanaged.passRetained(pipeline).takeUnretainedValue()",
        ),
    )
    add(
        table, "a request that was built anew forgets the origin it left",
        ("Pipeline/HopRequest.swift", "var hop = |with(next)|", "HopRequest(next)"),
    )
    add(
        table, "the cache does not see what is added below it",
        ("Cache/SentRequests.swift", "allSatisfy { |fields[$0] == sent.fields[$0]| }", "true"),
    )
    add(
        table, "no idle connection is closed when descriptors run out",
        (
            "Dial/DescriptorShortage.swift", "= { |ConnectionPools.shared.closeLongestIdle()| }",
            "false",
        ),
    )
    add(
        table, "a whole response keeps its connection until it is read",
        ("Transport/Transport.swift", "guard |reading.isAtEnd|, reading.isRequestSent else", "false"),
    )
    add(
        table, "a retry never changes its address",
        (
            "Retries/FailedEndpoints.swift",
            "return Detour(failed: |failed|, misdirected", "[]",
        ),
    )
    add(
        table, "a closed idle connection is not noticed on the loop",
        ("Transport/Transport.swift", "asksKernel: |!method.mayBeSentTwice(with: body)|,", "false"),
    )
    add(
        table, "a frozen server costs a limit for each of its connections",
        ("Transport/Transport+Replacing.swift", "if |wasIdle|, failure.showsFrozen(connection)", "false"),
    )
    add(
        table, "a request is sent twice on a dead connection whatever its method",
        ("Transport/Transport+Replacing.swift", "failure.showsStale(connection), |request.mayBeSentTwice| else", "true"),
    )
    add(
        table, "bytes behind a response are kept for the next one",
        ("Transport/Transport.swift", "if case .reusable = connection.reuse, |!connection.hasUnparsedBytes|,", "true"),
    )


def add_downloads(table):
    """Adds faults of downloads."""
    add(
        table, "parts of two versions are joined",
        ("Downloads/PartJudgement.swift", "guard |wanted.validator.isMeant(by: headers)| else", "true"),
    )
    add(
        table, "parts of two URLs are joined",
        ("Downloads/PartJudgement.swift", "guard |wanted.joins(url)| else", "true"),
    )
    add(
        table, "a part of a server that proves nothing is joined",
        ("Downloads/PartJudgement.swift", "guard |wanted.representation.identity == identity| else", "true"),
    )
    add(
        table, "a recent date joins parts",
        ("Downloads/Representation.swift", "modified.advanced(bySeconds: |leastAge|)", "0"),
    )
    add(
        table, "what a cancelled download was about to write is lost",
        ("Downloads/DownloadDisk.swift", "if |!error.isSystemFailure| {", "false"),
    )


def add_security(table):
    """Adds faults of hedges, logins and HSTS."""
    add(
        table, "a request that must not be repeated is hedged",
        ("Pipeline/Hedging.swift", "var mayBeHedged: Bool { |method.isIdempotent| && body", "true"),
    )
    add(
        table, "the loser of a hedge goes on",
        ("Pipeline/Hedging.swift", "for task in tasks { |task.cancel()| }", "()"),
    )
    add(
        table, "a hedge goes to the address of the first request",
        ("Detour.swift", "return Detour(|failed + [endpoint]|, misdirected, new, nil, isHedge: true", "failed"),
    )
    add(
        table, "a retry repeats the count of a digest",
        ("Pipeline/Attempts.swift", "if |!isFirst| { try await call.renewCredentials", "false"),
    )
    add(
        table, "a login is kept after a redirect to another origin",
        (
            "Pipeline/HopRequest.swift",
            "clientFields = crossing.clientFields\n            authenticator = |nil|", "authenticator",
        ),
    )
    add(
        table, "HSTS is not asked",
        ("Pipeline/CookiesAndHSTS.swift", "if let upgraded = |hsts?.upgrades(url, at: .now)| {", "nil"),
        ("Pipeline/CookiesAndHSTS.swift", "let upgraded = |upgrades(url, at: .now)| else", "nil"),
        ("Pipeline/Redirects.swift", "|configuration.hsts?.upgrades(url, at: .now)|", "nil"),
    )
    add(
        table, "HSTS is not learned",
        ("Pipeline/CookiesAndHSTS.swift", "if |response.url.scheme == .https| {", "false"),
    )


def add_files(table):
    """Adds faults of files with cookies and HSTS policies."""
    add(
        table, "a state file gets its name before its bytes are on disk",
        ("Files/StateFile.swift", "try |putOnDisk(file)|", "()"),
    )
    add(
        table, "the draft of a state file that cannot be written is left",
        (
            "Files/StateFile.swift",
            "|unlink(draft)|\n            throw error\n        }\n        do throws(SystemError) {",
            "Int32(0)",
        ),
    )
    add(
        table, "the cookies of a session outlive it",
        ("Cookies/CookieJar.swift", "removeAll { |$0.expiry == nil| }", "false"),
    )
    add(
        table, "a kept cookie forgets when it expires",
        ("Cookies/NetscapeCookies.swift", "content.expiry = try |expiry(fields[4])|", "nil"),
        (
            "Cookies/JSONCookies.swift",
            "content.expiry = try |members.number(\"expiry\").map { UnixTime(seconds: $0) }|", "nil",
        ),
    )
    add(
        table, "the cookies of a file are not read",
        ("Cookies/CookieJar+Files.swift", "store(|loaded.filter { !$0.hasExpired(at: now) }|, at: now)", "[]"),
    )
    add(
        table, "an HSTS policy is not saved",
        ("HSTS/HSTSStore+File.swift", "for entry in |entries| {", "[Entry]()"),
    )
    add(
        table, "an HSTS policy is not read from its file",
        ("HSTS/HSTSStore+File.swift", "if |entry.expiry > max(now, expiry(of: entry.name))| {", "false"),
    )


def add_folders(table):
    """Adds faults of cache folders."""
    add(
        table, "the checksum of content in a folder is not looked at",
        (
            "Stores/EntryFile.swift",
            "return |check.number() == Checksum.of(content, seed: UInt64(index) + 1)| ?", "true",
        ),
    )
    add(
        table, "the variants of a response share a file",
        ("Stores/CacheFiles.swift", "low: |variant.digest.low ^ index.generation|)", "index.generation"),
        (
            "Stores/CacheFiles.swift",
            "guard found.key == key, |variant.map({ $0 == found.variant }) ?? found.variant.names.names.isEmpty|",
            "true",
        ),
    )
    add(
        table, "a response from a folder is as fresh as when it came",
        ("Stores/EntryFile.swift", "requestTime: |UnixTime(seconds: requestTime)|,", "UnixTime.now"),
        ("Stores/EntryFile.swift", "responseTime: |UnixTime(seconds: responseTime)|\n", "UnixTime.now"),
        ("Rules/CachedHead.swift", "let apparentAge = |responseTime.secondsSince(date)|", "0"),
    )
    add(
        table, "a folder grows beyond its limits",
        ("Stores/CacheFiles.swift", "for facts in |kept| {", "[StateFolder.Facts]()"),
    )
    add(
        table, "damage in a small file of a folder is noticed when the response has begun",
        ("Stores/CacheFiles.swift", "let isSmall = |file.size <= Self.smallFile|", "false"),
    )


def add_resolvers(table):
    """Adds faults of resolvers and of their cache."""
    add(
        table, "an answer is used for longer than it is good",
        (
            "ResolverCache/AnswerTable.swift", "entry.expiry = now.advanced(byNanoseconds: |span|)",
            "span + 3_600_000_000_000",
        ),
    )
    add(
        table, "callers that want one name ask each for themselves",
        ("ResolverCache/CachingResolver+Asking.swift", "if let query = |state.queries[key]| {", "nil"),
    )
    add(
        table, "a fresh answer is asked for again",
        (
            "ResolverCache/AnswerTable.swift",
            "let isDue = rules.refreshesAhead && |left < UInt64(entry.span) * 100_000|", "true",
        ),
    )
    add(
        table, "answers that were kept are not read",
        (
            "ResolverCache/CachingResolver+File.swift",
            "|(try? StateFile.read(path, limit: Self.fileLimit)) ?? []|", "[]",
        ),
    )
    add(
        table, "answers that were kept last as long as new ones",
        (
            "ResolverCache/CachingResolver+File.swift",
            "let span = min(Duration.seconds(|left.partialValue|).clampedNanoseconds, longest)\n                    expiry",
            "line.seconds",
        ),
    )
    add(
        table, "connections to addresses that a resolver no longer names are used",
        ("Routes/Route.swift", "source.author != .proxy && |selection.contains(endpoint)|", "true"),
    )
    add(
        table, "the answer to another question is believed",
        ("DNS/DNSAnswer.swift", "|bytes.withSpan({ $0.isName(question.name, text: host.bytes) })|", "true"),
    )
    add(
        table, "a resolver's server is waited for longer than its limit",
        ("Services/ServiceClient.swift", "request.timeouts.total = .after(|limit|)", ".seconds(100)"),
    )
    add(
        table, "a resolver's server need not prove its name",
        (
            "Services/ServiceClient.swift", "$0.tls = |settings.tls|",
            "{ var tls = settings.tls; tls.insecureOverride = InsecureCertificateOverride { _ in true }; return tls }()",
        ),
    )
    add(
        table, "a resolver's client keeps cookies",
        ("Services/ServiceClient.swift", "client = HTTPClient {||", "$0.cookies = CookieJar()"),
    )
    add(
        table, "the identifier of an answer is not looked at",
        ("DNS/DNSAnswer.swift", "guard message.isResponse, |message.id == id| else", "true"),
    )
    add(
        table, "what a truncated answer contains is used",
        ("DNS/DNSExchange.swift", "if |Self.isTruncated(bytes, id: id)| { return nil }", "false"),
        ("DNS/DNSAnswer.swift", "guard |!message.isTruncated| else", "true"),
    )
    add(
        table, "a server that calls a question malformed has to return it",
        (
            "DNS/DNSAnswer.swift", "if |message.questionCount == 0|, !Self.conclusiveCodes", "false"
        ),
    )
    add(
        table, "a question is sent once, although datagrams get lost",
        ("DNS/DNSExchange.swift", "while sent < |Self.mostSends| {", "1"),
    )
    add(
        table, "a service is asked for its servers with each question",
        ("Services/ServerList.swift", "guard interval != nil, !isUpdating, |now >= due| else", "true"),
    )
    add(
        table, "a server without EDNS is not asked again",
        ("Services/PlainDNS.swift", "if |Self.mayKnowNoEDNS(message)| {", "false"),
    )
    add(
        table, "the next resolver of a chain is asked whatever the policy",
        (
            "Resolvers/ChainResolver.swift",
            "case .failure(let error): failures.append(error)\n            }\n            if |fallback == .never|",
            "false",
        ),
    )
