/// A world as plain values. A seed becomes a plan, and a plan can be made smaller, kept in a file and run
/// again.
///
/// Times are in microseconds.
struct Plan: Codable, Equatable {
    /// The seed of what is drawn while the world runs: delays, orders, sizes of segments.
    var seed: UInt64
    var network = NetworkPlan()
    var client = ClientPlan()
    var hosts: [HostPlan] = []
    var calls: [CallPlan] = []
    /// The files that servers have for downloads, and the disk that they are downloaded to. What is `nil`
    /// here and below is missing in plans that are older.
    var files: [FilePlan]?
    var disk: DiskPlan?
    /// What the program keeps in files, and how often it runs.
    var keeping: KeepingPlan?
    /// The services that are asked for addresses.
    var resolvers: ResolverPlan?
    var kernel: KernelPlan?
    /// The settings that the client reads from files; `nil` if it has them in memory.
    var settings: SettingsPlan?
    /// What proxies and servers do that most do not.
    var peers: PeerPlan?
    /// How names are encrypted; `nil` if they are not.
    var encryption: EncryptionPlan?
    /// Programs behind a proxy of their machine, in place of calls.
    var tunnels: TunnelPlan?

    /// Whether the task that makes the call is cancelled at some time.
    func isCancelled(_ number: Int) -> Bool {
        calls[firstCall(ofTask: number)].cancellation != nil
    }
}

/// The settings of the client.
struct ClientPlan: Codable, Equatable {
    enum Proxy: String, Codable {
        case none, http, https, socks, socksLocal
    }

    enum Resolving: String, Codable {
        /// The system's resolver.
        case system
        /// The client's static map.
        case map
        /// Addresses in the request.
        case request
        /// A resolver that answers after a while.
        case resolver
        /// The same with a cache in front of it.
        case cachingResolver
    }

    var perOrigin: Int?
    var connections: Int?
    var retries = false
    var repeatsAnyMethod = false
    var proxy = Proxy.none
    var hasProxyCredentials = false
    /// Whether the client itself looks up the names of servers behind an HTTP proxy.
    var resolvesForProxy: Bool?
    /// The proxy sends its own replies byte by byte, with this pause before each.
    var proxyPause: Int?
    var resolving = Resolving.system
    /// Whether a certificate for another name makes the client try the next address.
    var triesNextOnWrongCertificate = false
    var idleTimeout: Int?
    var usesPerConnection: Int?
    var keepsCookies = false
    var caches = false
    /// An interceptor that builds each request anew.
    var rebuildsRequests = false
    /// A network interceptor that passes everything on.
    var hasNetworkInterceptor = false
    var observes = false
    /// Whether the client is released while calls run.
    var isReleasedEarly = false
    var responseLimit: Int?
    var queueLimit: Int?
    var readLimit: Int?
    /// The limit of a connection's opening, of the TLS handshake too, and of the conversation with a proxy.
    var connectLimit: Int?
    /// The time that the client waits for a server's 100 (Continue).
    var continueLimit: Int?
    /// The slowest transfer that is accepted: so many bytes in each of these intervals.
    var slowestBytes: Int?
    var slowestTime = 100_000
    /// Whether the client speaks no newer version of TLS than 1.2.
    var isOldTLS = false
    var decoding = Decoding.both
    /// Whether the client has a field of its own with a secret, which no request after a redirect to another
    /// origin may carry.
    var hasOwnSecret = false
    /// Whether the policy of redirects builds each request anew.
    var rebuildsRedirects = false
    /// Whether a network interceptor adds the user's name, which the cache above it does not see.
    var addsUserBelowCache = false
    /// Whether certificates that prove nothing are accepted.
    var acceptsAnyCertificate: Bool?
    var hedging: HedgePlan?
    /// Whether its connections are bound to an address of its own.
    var bindsAddress: Bool?
    var keepsHSTS: Bool?
    /// Whether each request has its authenticator. Otherwise the client has one for each origin.
    var logsInPerRequest: Bool?
    var transfers: TransferPlan?
    /// Whether it has a base, the first host's, to which the requests for that are relative.
    var hasBase: Bool?
    /// The most bytes of a body that is fetched at once.
    var bodyLimit: Int?

    /// The codings that the client asks for.
    enum Decoding: String, Codable, CaseIterable {
        case none, gzip, deflate, both
    }
}

/// A server's name, its addresses and its behaviour.
struct HostPlan: Codable, Equatable {
    var isSecure = false
    var addresses: [AddressPlan] = [AddressPlan()]
    /// The server closes a connection that is idle for so long.
    var idleClose: Int?
    var tickets = 2
    var isOldTLS = false
    /// Closes without close_notify.
    var isRude = false
    var updatesKeys = false
    /// Sends its responses in pieces of at most so many bytes, each a write of its own.
    var pieceSize: Int?
    /// The time that the resolver takes for this name.
    var resolveTime = 1000
    /// Session tickets are as large as two records, with this pause between the two.
    var ticketPause: Int?
    var strictness: Strictness?
    var digest: Digest?
    /// Whether its policy to use TLS only holds for the hosts below it, and its port if that is unusual.
    var coversSubdomains: Bool?
    var port: Int?
    /// Whether it is at another port of the first host's name and addresses.
    var sharesName: Bool?
    /// Whether it asks clients for a certificate.
    var asksForIdentity: Bool?
    /// What it staples to its certificate, for clients that ask.
    var staple: Staple?
    /// Whether the client reaches it at a Unix domain socket.
    var hasSocket: Bool?
}

/// An address of a server.
struct AddressPlan: Codable, Equatable {
    enum Fate: String, Codable, CaseIterable {
        case works
        case refuses
        /// No connection can be made, for any of the other reasons that Linux has (connect(2)).
        case fails
        case silent
        /// Closes each connection at once.
        case closes
        /// Accepts connections and never reads.
        case freezes
        /// Has a certificate for another name (without TLS it works).
        case wrongCertificate
        /// Has a certificate of an issuer that the client does not trust.
        case unknownIssuer
        /// Works until `changeTime`; then all its connections break, and it refuses new ones.
        case dies
        /// Refuses until `changeTime`, and works afterwards.
        case appears
        /// Works until `changeTime`; then it reads and writes nothing more.
        case stops
    }

    var fate = Fate.works
    var changeTime = 0
    var isV6 = false
    /// The list of certificates that is sent instead of one of an unknown issuer.
    var list: CertificateList?
}

/// A call of the client's user.
struct CallPlan: Codable, Equatable {
    enum Kind: String, Codable {
        case get, head, post, stream, streamOfKnownLength, put, prewarm
        /// Uploads a file.
        case file
        /// Switches protocols, and then sends and receives bytes.
        case raw
        /// The same with CONNECT, as the client of a proxy that only its caller knows.
        case tunnel
        /// Follows server-sent events, over as many connections as it takes.
        case events

        /// Whether its body can be sent once only.
        var isOneShot: Bool { self == .stream || self == .streamOfKnownLength }
    }

    enum Reading: String, Codable {
        /// The whole body at once.
        case fetch
        /// Piece by piece.
        case pieces
        /// Piece by piece, with pauses.
        case slowly
        /// One piece; then the body is dropped.
        case firstPiece
        /// Nothing of the body.
        case none
    }

    var kind = Kind.get
    var host = 0
    /// The time until it begins, since the beginning of the world or, with `follows`, since the last call.
    var start = 0
    var upload = 0
    var uploadPause = 0
    var reading = Reading.fetch
    /// The pause after each piece of one who reads slowly, if it is longer than usual.
    var readingPause: Int?
    var total: Int?
    var cancellation: Int?
    var isOnLoop = false
    var expectsContinue = false
    /// Whether the request carries the host's secrets.
    var carriesSecrets = false
    /// Whether it is made by the task of the call before it, when that is over.
    var follows = false
    /// With `follows`: the processor's time that the task takes before it, without suspending.
    var work = 0
    /// The number of a URL that calls have in common; `nil` for a URL of its own.
    var resource: Int?
    /// What the call downloads to a file; `nil` if it returns a response.
    var download: DownloadPlan?
    /// Whether its URL is a plain one although the host is secure.
    var isPlain: Bool?
    /// Whether it is the only one that is given up, in a world where everything else works.
    var isVictim: Bool?
    /// The number of the run that makes it, and the value of a field by which servers may choose.
    var run: Int?
    var variant: Int?
    /// Whether its user watches the progress of its bodies, and whether the request has a login with Basic.
    var watchesProgress: Bool?
    var logsIn: Bool?
    /// The TLS settings of its request.
    var tls: TLS?
    /// Whether it follows pages, each with a link to the next: its replies.
    var isPaged: Bool?
    /// Whether it has a client of its own.
    var isAlone: Bool?
    /// The user that it is made for, by a client of its own, where several users share the cache.
    var user: User?
    /// Where its request has bytes that would end a line of it.
    var injection: Injection?
    /// The number of connections that a prewarming call asks for.
    var count = 1
    /// The replies to the requests of this call; the last one is repeated.
    var replies: [ReplyPlan] = [ReplyPlan()]
}

/// A server's reply to one request.
struct ReplyPlan: Codable, Equatable {
    enum Framing: String, Codable {
        case length, chunked, untilClose
    }

    enum Ending: String, Codable, CaseIterable {
        case complete
        /// Closes after the response, without having announced it.
        case closes
        /// Breaks off in the middle of the body.
        case breaksOff
        /// Closes before the head.
        case closesBefore
        /// Sends bytes after the response that belong to none.
        case addsBytes
        /// Sends a response that nobody has asked for, in the same segment.
        case addsResponse
        /// Sends half of the body, and then nothing more.
        case stalls
        /// Sends bytes without end, faster than the client can read them.
        case floods
    }

    /// What a flood consists of.
    enum Flood: String, Codable, CaseIterable {
        case bytes
        /// Chunks of one byte.
        case tinyChunks
        /// Members of gzip that decode to nothing.
        case emptyMembers
        /// The line with the size of a chunk, and the fields behind the last one.
        case chunkLine, trailers
    }

    var status = 200
    var size = 0
    var framing = Framing.length
    var ending = Ending.complete
    /// The time until the head is sent.
    var delay = 0
    /// The body is sent in so many parts, with this pause between them.
    var parts = 1
    var pause = 0
    /// The host of the Location field of a redirect.
    var target = 0
    /// The number of interim responses before it.
    var interim = 0
    /// Whether the reply is sent before the body of the request is read.
    var isEarly = false
    /// With `isEarly`: how the rest of the request is read, in pieces, with pauses; 0 reads nothing.
    var lateReading = 0
    var latePause = 0
    var setsCookie = false
    var lifetime: Int?
    /// Whether caches have to distinguish users.
    var variesByUser = false
    /// Whether it has a validator, and whether it confirms a response that the client has.
    var hasTag: Bool?
    var confirms: Bool?
    /// Whether it is a file that was restored: of an earlier date than those before it, with other bytes.
    var isRestored: Bool?
    /// Whether the content is coded, if the request accepts that.
    var isCoded = false
    var flood = Flood.bytes
    /// Whether a request that expects 100 (Continue) gets none.
    var isSilentBeforeBody = false
    /// What is wrong with a part of a file.
    var rangeFault: RangeFault?
    /// The number of members of gzip that decode to nothing: all of the content for those that accept it.
    var emptyMembers: Int?
    /// What it says beside its status and its length.
    var word: Word?
    /// In which line it stops, if it stalls: otherwise in the middle of the body.
    var stop: Stop?
}

extension ReplyPlan {
    /// The bytes of a member of gzip that decodes to nothing.
    static let emptyMemberSize = 20
}

extension CallPlan {
    /// The pause after each piece, in microseconds.
    var pauseOfReader: Int { reading == .slowly ? readingPause ?? 5000 : 0 }

    var mayChangeCaches: Bool { isAlone != true && ![.get, .head, .prewarm, .raw, .events].contains(kind) }
    /// Whether one of its replies may never end.
    var isFlooded: Bool { replies.contains { $0.ending == .floods } }

    /// Whether one of its replies may keep its task reading for as long as a task may without a yield.
    var isLarge: Bool { isFlooded || download != nil || replies.contains { $0.size > 200_000 } }
}
