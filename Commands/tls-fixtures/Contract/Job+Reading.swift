internal import DirectJSON

/// A line of the contract: a job and its number.
struct NumberedJob: Decodable {
    let id: Int
    let job: Job

    init(from decoder: any Decoder) throws {
        let members = try decoder.strict
        id = try members.required("id")
        var job = Job(
            topic: try members.optional("topic") ?? "",
            vector: try members.optional("vector") ?? "",
            roots: try members.required("roots"),
            routes: try members.required("connect", as: Routes.self).routes,
            settings: try members.required("settings"),
            kept: Set(try members.optional("keep") ?? []),
            time: try members.optional("time"),
            requests: try members.required("requests")
        )
        if let stagger: Int = try members.optional("stagger") {
            var dialling = job.settings.dialling ?? RouteVector.Dialling()
            dialling.stagger = stagger
            job.settings.dialling = dialling
        }
        job.timeout = try members.optional("timeout", as: Int.self) ?? job.timeout
        self.job = job
        // Our client connects to addresses itself.
        _ = try members.optional("proxy", as: String.self)
    }
}

/// The object that maps hosts with ports to addresses.
private struct Routes: FromJSON {
    let routes: [Job.Route]

    init(_ value: JSONValue) throws(FieldError) {
        routes = try value.members().map { member throws(FieldError) in
            guard let colon = member.name.lastIndex(of: ":"),
                let port = UInt16(member.name[member.name.index(after: colon)...])
            else { throw member.value.fault("\"\(member.name)\" has no port") }
            var host = String(member.name[..<colon])
            if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
            return Job.Route(host: host, port: port, addresses: try StrictDecoder.decode(from: member.value))
        }
    }
}

/// Whether the member is the word "map".
@propertyWrapper struct IsMap: FromJSON, MayBeAbsent, Sendable {
    var wrappedValue = false

    init() {}
    init(_ value: JSONValue) throws(FieldError) { wrappedValue = try value.text() == "map" }
}

/// The settings of dialling with the names of the contract. The stagger has its own place.
@propertyWrapper struct JobDialling: MayBeAbsent, Sendable {
    var wrappedValue: RouteVector.Dialling?

    init() {}

    init(from decoder: any Decoder) throws {
        var dialling = RouteVector.Dialling()
        dialling.keepsOrder = try decoder.strict.optional("keepsOrder") ?? false
        dialling.passesOverWrongServers = try decoder.strict.optional("skipsWrongServers") ?? false
        wrappedValue = dialling
    }
}

/// A line of the contract: the outcome of a job, and its number.
struct NumberedOutcome: Decodable {
    let id: Int
    let outcome: JobOutcome

    init(from decoder: any Decoder) throws {
        let members = try decoder.strict
        id = try members.required("id")
        let results = try members.optional("results", as: [RequestOutcome].self)
        let left = try members.optional("left", as: String.self)
        let broken = try members.optional("broken", as: String.self)
        switch (left, broken, results) {
        case (let why?, nil, nil): outcome = .left(why)
        case (nil, let why?, nil): outcome = .broken(why)
        case (nil, nil, let results?): outcome = .done(results)
        default: throw members.value.fault("either results, left or broken is expected")
        }
    }
}

extension RequestOutcome: Decodable {
    init(from decoder: any Decoder) throws {
        let members = try decoder.strict
        attempts = try members.optional("attempts", as: [Pair<String>].self)?.map {
            ($0.elements[0], Ending(word: $0.elements[1]) ?? .other($0.elements[1]))
        }
        if let failure = try members.optional("error", as: Failure.self) {
            result = .failed(kind: failure.kind, detail: failure.detail, text: failure.text)
        } else {
            result = .response(try ReportedResponse(from: decoder))
        }
    }

    private struct Failure: Decodable {
        var kind: String?
        var detail: String?
        @OrEmpty var text: String
    }
}

extension ReportedResponse: Decodable {
    init(from decoder: any Decoder) throws {
        let members = try decoder.strict
        // Three digits: a client may accept a status that HTTP does not have, and then it says so.
        status = try members.optional("status")
        if let status, !(0...999).contains(status) { throw members.value.fault("no status is \(status)") }
        reason = try members.optional("reason")
        version = try members.optional("version")
        fields = try members.required("headers", as: [Pair<String>].self).map {
            ($0.elements[0], $0.elements[1])
        }
        body = try members.required("body")
        trailers = try members.optional("trailers", as: Pairs.self)?.wrappedValue
        interims = try members.optional("interims")
        url = try members.optional("url")
        use = try members.optional("use")
        events = try members.optional("events")
    }
}

extension ClientDescription: Decodable {
    /// Reads the first line of a client program.
    init(from decoder: any Decoder) throws {
        let members = try decoder.strict
        let contract = try members.required("contract", as: Int.self)
        name = try members.required("name")
        version = try members.required("version")
        codings = try members.required("codings")
        givesReasons = try members.optional("reasons") ?? false
        guard contract == Self.contract else {
            throw members.value.fault("contract \(contract) instead of \(Self.contract)")
        }
    }
}
