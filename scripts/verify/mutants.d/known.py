"""Faults that the client once had, put into its sources of today. `scripts/verify/mutants --worlds` runs simulated worlds with
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
    """Adds one fault, at one place or at several. Each is a member, a fragment of it, and what the piece becomes."""
    where, at, becomes = places[0]
    table.place(name, where, at, becomes, "", members=(name,))
    mutant = table.mutants[-1]
    table.places.extend(Place(*place, mutant) for place in places[1:])


def add_transfers(table):
    """Adds faults of uploads, bodies and bytes."""
    add(
        table, "plain text beside the TLS of a proxy",
        (
            "Connection.init", "self.layers = |layers|",
            "(facts.proxy != nil && facts.tls == nil && forwarding == nil ? LayerStack(layers.socket) : layers)",
        ),
    )
    add(
        table, "an upload ends with its response",
        ("Transport.begin", "|reading.isRequestSent|", "true"),
        ("BodyReading.finish", "|!isRequestSent|", "false"),
    )
    add(
        table, "a refused upload hides what befell its response",
        ("Upload.end", "if case .failed(.cancelled) = new, |isStopped| {", "false"),
    )
    add(
        table, "a reset that only the upload noticed",
        ("Socket.receive", "|wasReset.load(ordering: .relaxed)|", "false"),
    )


def add_waits(table):
    """Adds faults of limits and waits."""
    add(
        table, "the limit of a call is not looked at while bytes keep coming",
        ("CallLimit.check", "|end < .never|", "false"),
    )
    add(
        table, "no limit while TLS waits for the other direction",
        ("LoopHandle.waitForInput", "await wait(crosswiseAt: writersInput, until: |deadline|)", ".never"),
        ("LoopHandle.waitForOutput", "await wait(crosswiseAt: readersOutput, until: |deadline|)", ".never"),
    )
    add(
        table, "a task that always has bytes never yields",
        ("YieldCounter.isDue", "|moved >= Self.bytesBetweenYields|", "false"),
    )
    add(
        table, "a proxy restarts its limit with each byte",
        (
            "ProxyNegotiation.fill",
            "if case .moved = step { return } try await connection.wait(for: step, as: .reader, |deadline|)",
            "{ var fresh = deadline; fresh.extend(from: connection.loop.now); return fresh }()",
        ),
        (
            "ProxyNegotiation.receive",
            "} else { try await connection.wait(for: step, as: .reader, |deadline|)",
            "{ var fresh = deadline; fresh.extend(from: connection.loop.now); return fresh }()",
        ),
    )
    add(
        table, "a connection made ahead is held back",
        (
            "Transport.warm", "|dialler.dial(target, within: limits)|",
            "{ () async throws(DialFailure) -> Connection in let made = try await dialler.dial(target, within: limits); "
            "try? await loop.sleep(until: loop.now.advanced(byNanoseconds: 7_500_000_000)); return made }()",
        ),
    )
    add(
        table, "a retry waits after it has drained",
        (
            "Attempts.sendInAttempts", "try await loop.sleep(until: |end|)",
            "loop.now.advanced(byNanoseconds: wait.clampedNanoseconds)",
        ),
    )


def add_connections(table):
    """Adds faults of the pool and of addresses."""
    add(
        table, "a client is never released",
        (
            "HTTPClient.identity", "|pipeline|", "Unmanaged.passRetained(pipeline).takeUnretainedValue()",
        ),
    )
    add(
        table, "a request that was built anew forgets the origin it left",
        ("HopRequest.moved", "|with(next)|", "HopRequest(next)"),
    )
    add(
        table, "the cache does not see what is added below it",
        ("CacheRequestPolicy.asksTheSame", "|fields[$0] == sent.fields[$0]|", "true"),
    )
    add(
        table, "no idle connection is closed when descriptors run out",
        ("DescriptorShortage.init", "|ConnectionPools.shared.closeLongestIdle()|", "false"),
    )
    add(
        table, "a whole response keeps its connection until it is read",
        ("Transport.begin", "|reading.isAtEnd|", "false"),
    )
    add(
        table, "a retry never changes its address",
        (
            "FailedEndpoints.detour",
            "return Detour(failed: |failed|, misdirected", "[]",
        ),
    )
    add(
        table, "a closed idle connection is not noticed on the loop",
        ("Transport.send", "|!request.message.mayBeSentTwice|", "false"),
    )
    add(
        table, "a frozen server costs a limit for each of its connections",
        ("Transport.replace", "if |wasIdle|, failure.showsFrozen(connection)", "false"),
    )
    add(
        table, "a request is sent twice on a dead connection whatever its method",
        ("Transport.replace", "|request.message.mayBeSentAgain|", "true"),
    )
    add(
        table, "bytes behind a response are kept for the next one",
        ("ConnectionPool.conclude", "|!connection.hasUnparsedBytes|", "true"),
    )


def add_downloads(table):
    """Adds faults of downloads."""
    add(
        table, "parts of two versions are joined",
        ("PartJudgement.part", "|wanted.validator.isMeant(by: headers)|", "true"),
    )
    add(
        table, "parts of two URLs are joined",
        ("PartJudgement.part", "|wanted.joins(url)|", "true"),
    )
    add(
        table, "a part of a server that proves nothing is joined",
        ("PartJudgement.init", "|wanted.representation.identity == identity|", "true"),
    )
    add(
        table, "a recent date joins parts",
        ("StrongValidator.date", "modified.advanced(bySeconds: |leastAge|)", "0"),
    )
    add(
        table, "what a cancelled download was about to write is lost",
        ("DownloadDisk.append", "|!error.isSystemFailure|", "false"),
    )


def add_security(table):
    """Adds faults of hedges, logins and HSTS."""
    add(
        table, "a request that must not be repeated is hedged",
        ("Request.mayBeHedged", "|method.isIdempotent|", "true"),
    )
    add(
        table, "the loser of a hedge goes on",
        ("Race.end", "|task.cancel()|", "()"),
    )
    add(
        table, "a hedge goes to the address of the first request",
        ("Detour.hedging", "|failed + [endpoint]|", "failed"),
    )
    add(
        table, "a retry repeats the count of a digest",
        ("Attempts.attempt", "if |!isFirst| { try await call.renewCredentials", "false"),
    )
    add(
        table, "a login is kept after a redirect to another origin",
        (
            "Facts.leaveOrigin",
            "clientFields = crossing.clientFields authenticator = |nil|", "authenticator",
        ),
    )
    add(
        table, "HSTS is not asked",
        ("CookiesAndHSTS.upgraded", "|hsts.upgrades(url, at: .now)|", "(nil as HTTPURL?)"),
        ("Redirects.next", "|fields.hsts?.upgrades(url, at: .now)|", "(nil as HTTPURL?)"),
    )
    add(
        table, "HSTS is not learned",
        ("CookiesAndHSTS.learn", "|url.scheme == .https|", "false"),
    )


def add_files(table):
    """Adds faults of files with cookies and HSTS policies."""
    add(
        table, "a state file gets its name before its bytes are on disk",
        ("StateFile.replace", "|draft.settle()|", "()"),
    )
    add(
        table, "the draft of a state file that cannot be written is left",
        ("FileDraft.discard", "guard |isPending|, let", "false"),
    )
    add(
        table, "the cookies of a session outlive it",
        ("CookieJar.endSession", "|$0.expiry == nil|", "false"),
    )
    add(
        table, "a kept cookie forgets when it expires",
        ("NetscapeCookies.decode", "|expiry(fields[4])|", "nil"),
        (
            "JSONCookies.decode",
            '|members.number("expiry").map { UnixTime(seconds: $0) }|', "nil",
        ),
    )
    add(
        table, "the cookies of a file are not read",
        ("CookieJar.add", "if |!cookie.hasExpired(at: now)| {", "false"),
    )
    add(
        table, "an HSTS policy is not saved",
        ("HSTSStore.text", "for entry in |entries| {", "[Entry]()"),
    )
    add(
        table, "an HSTS policy is not read from its file",
        ("HSTSStore.add", '|line.first != UInt8(ascii: "#")|', "false"),
    )


def add_folders(table):
    """Adds faults of cache folders."""
    add(
        table, "the checksum of content in a folder is not looked at",
        (
            "EntryFile.content",
            "|check.number() == Checksum.of(content, seed: UInt64(index) + 1)|", "true",
        ),
    )
    add(
        table, "the variants of a response share a file",
        ("CacheKey.name", "low: |variant.digest.low|)", "0"),
        (
            "CacheFiles.load",
            "|variant.map({ $0 == found.variant }) ?? found.variant.names.names.isEmpty|",
            "true",
        ),
    )
    add(
        table, "a response from a folder is as fresh as when it came",
        ("EntryFile.decode", "|UnixTime(seconds: requestTime)|", "UnixTime.now"),
        ("EntryFile.decode", "|UnixTime(seconds: responseTime)|", "UnixTime.now"),
        ("CachedHead.init", "|responseTime.secondsSince(date)|", "0"),
    )
    add(
        table, "a folder grows beyond its limits",
        ("CacheFiles.sweepAlone", "for facts in |evictable(kept)| {", "[StateFolder.Facts]()"),
    )
    add(
        table, "damage in a small file of a folder is noticed when the response has begun",
        ("CacheFiles.read", "|file.size <= Self.smallFile|", "false"),
    )


def add_resolvers(table):
    """Adds faults of resolvers and of their cache."""
    add(
        table, "an answer is used for longer than it is good",
        (
            "AnswerTable.put", "entry.expiry = now.advanced(byNanoseconds: |span|)",
            "span + 3_600_000_000_000",
        ),
    )
    add(
        table, "callers that want one name ask each for themselves",
        ("CachingResolver.join", "if let query = |state.queries[key]| {", "nil"),
    )
    add(
        table, "a fresh answer is asked for again",
        (
            "AnswerTable.find",
            "|left < UInt64(entry.span) * 100_000|", "true",
        ),
    )
    add(
        table, "answers that were kept are not read",
        (
            "CachingResolver.joinReading", "restore(|text ?? []|, date: loop.date)", "[]",
        ),
    )
    add(
        table, "answers that were kept last as long as new ones",
        (
            "CachingResolver.restore",
            "expiry = now.advanced(byNanoseconds: min(|left|, span))", "UInt64.max",
        ),
    )
    add(
        table, "connections to addresses that a resolver no longer names are used",
        ("Route.allows", "|selection.contains(endpoint)|", "true"),
    )
    add(
        table, "the answer to another question is believed",
        ("DNSAnswer.init", "|bytes.withSpan({ $0.isName(question.name, text: host.bytes) })|", "true"),
    )
    add(
        table, "a resolver's server is waited for longer than its limit",
        ("ServiceClient.fetch", "RequestTimeouts.Limit.after(|limit|)", ".seconds(100)"),
    )
    add(
        table, "a resolver's server need not prove its name",
        (
            "ServiceClient.init", "|settings.tls|",
            "{ var tls = settings.tls; tls.insecureOverride = InsecureCertificateOverride { _ in true }; return tls }()",
        ),
    )
    add(
        table, "a resolver's client keeps cookies",
        ("ServiceClient.init", "client = HTTPClient {||", "$0.cookies = CookieJar()"),
    )
    add(
        table, "the identifier of an answer is not looked at",
        ("DNSAnswer.init", "|message.id == id|", "true"),
    )
    add(
        table, "what a truncated answer contains is used",
        ("DNSExchange.askByDatagram", "|Self.isTruncated(bytes, id: id)|", "false"),
        ("DNSAnswer.init", "|!message.isTruncated|", "true"),
    )
    add(
        table, "a server that calls a question malformed has to return it",
        (
            "DNSAnswer.init", "|message.questionCount == 0|", "false"
        ),
    )
    add(
        table, "a question is sent once, although datagrams get lost",
        ("DNSExchange.askByDatagram", "while sent < |Self.mostSends| {", "1"),
    )
    add(
        table, "a service is asked for its servers with each question",
        ("ServerList.beginUpdate", "|now >= due|", "true"),
    )
    add(
        table, "a server without EDNS is not asked again",
        ("DatagramFormat.answer", "|Self.mayKnowNoEDNS(message)|", "false"),
    )
    add(
        table, "the next resolver of a chain is asked whatever the policy",
        (
            "ChainResolver.resolve(_:from:context:)",
            "|fallback == .never|",
            "false",
        ),
    )
