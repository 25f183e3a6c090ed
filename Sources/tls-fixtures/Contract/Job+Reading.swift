internal import DirectJSON

extension Job {
    /// Reads a line of the contract.
    ///
    /// - Returns: The job and its number.
    static func read(_ value: JSONValue) throws(FieldError) -> (id: Int, job: Job) {
        var fields = try Fields(value)
        let id: Int = try fields.required("id", read: Read.integer)
        var job = Job(
            topic: try fields.optional("topic", read: Read.text) ?? "",
            vector: try fields.optional("vector", read: Read.text) ?? "",
            roots: try fields.required("roots", read: Read.text),
            routes: try fields.required("connect", read: Read.routes),
            requests: []
        )
        _ = try fields.optional("proxy", read: Read.text)
        job.settings = try fields.optional("settings", read: Settings.init) ?? Settings()
        let kept: [Kept] = try fields.optional("keep", read: Read.list(of: Read.choice)) ?? []
        job.kept = Set(kept)
        job.time = try fields.optional("time", read: Read.integer)
        if let stagger: Int = try fields.optional("stagger", read: Read.integer) {
            var dialling = job.settings.dialling ?? RouteVector.Dialling()
            dialling.stagger = stagger
            job.settings.dialling = dialling
        }
        job.timeout = try fields.optional("timeout", read: Read.integer) ?? job.timeout
        job.requests = try fields.required("requests", read: Read.list(of: Request.init))
        try fields.end()
        return (id, job)
    }
}

extension Job.Request {
    fileprivate init(_ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        url = try fields.required("url", read: Read.text)
        method = try fields.optional("method", read: Read.text) ?? method
        self.fields = try fields.optional("headers", read: Read.byteFields) ?? []
        body = try fields.optional("body", read: Read.bytes)
        isStream = try fields.optional("stream", read: Read.flag) ?? false
        time = try fields.optional("after", read: Read.integer) ?? 0
        upgrade = try fields.optional("upgrade", read: Read.texts) ?? []
        try fields.end()
    }
}

extension Job.Settings {
    fileprivate init(_ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        follows = try fields.optional("follow", read: Read.flag) ?? false
        redirects = try fields.optional("redirects", read: Job.RedirectSettings.init) ?? redirects
        self.fields = try fields.optional("headers", read: Read.byteFields) ?? []
        decodes = try fields.optional("decode", read: Read.flag) ?? false
        versions = try fields.optional("versions", read: Read.versions)
        certificate = try fields.optional("certificate", read: Read.text)
        resumes = try fields.optional("resume", read: Read.flag) ?? true
        usesMap = try fields.optional("addresses", read: Read.text) == "map"
        addressTexts = try fields.optional("addressTexts", read: Read.texts)
        dialling = try fields.optional("dialling", read: Read.dialling)
        leniency = try fields.optional("leniency", read: Read.anything)
        limits = try fields.optional("limits", read: Read.anything)
        decoding = try fields.optional("decoding", read: Read.anything)
        stale = try fields.optional("stale", read: Read.integer)
        try fields.end()
    }
}

extension Job.RedirectSettings {
    fileprivate init(_ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        limit = try fields.optional("limit", read: Read.integer)
        allowsDowngrade = try fields.optional("downgrade", read: Read.flag) ?? false
        carriesBodyAcrossOrigins = try fields.optional("bodyAcrossOrigins", read: Read.flag) ?? true
        sendsReferer = try fields.optional("referer", read: Read.flag) ?? false
        surviving = try fields.optional("surviving", read: Read.texts) ?? []
        try fields.end()
    }
}

extension JobOutcome {
    /// Reads a line of the contract.
    ///
    /// - Returns: The outcome and the number of the job.
    static func read(_ value: JSONValue) throws(FieldError) -> (id: Int, outcome: JobOutcome) {
        var fields = try Fields(value)
        let id: Int = try fields.required("id", read: Read.integer)
        let why = try fields.optional("left", read: Read.text)
        let results = try fields.optional("results", read: Read.list(of: RequestOutcome.init))
        try fields.end()
        switch (why, results) {
        case (let why?, nil): return (id, .left(why))
        case (nil, let results?): return (id, .done(results))
        default: throw FieldError(line: value.line, what: "either results or left is expected")
        }
    }
}

extension RequestOutcome {
    fileprivate init(_ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        attempts = try fields.optional("attempts", read: Read.list(of: Read.attempt))
        if let failure = try fields.optional("error", read: Read.failure) {
            result = failure
        } else {
            result = .response(try ReportedResponse(&fields))
        }
        try fields.end()
    }
}

extension ReportedResponse {
    fileprivate init(_ fields: inout Fields) throws(FieldError) {
        status = try fields.required("status", read: Read.integer)
        reason = try fields.optional("reason", read: Read.text)
        version = try fields.optional("version", read: Read.text)
        self.fields = try fields.required("headers", read: Read.textFields)
        body = try fields.required("body", read: Read.bytes)
        trailers = try fields.optional("trailers", read: Read.textFields)
        interims = try fields.optional("interims", read: Read.list(of: Read.integer))
        url = try fields.optional("url", read: Read.text)
        use = try fields.optional("use", read: Read.text)
    }
}

extension ClientDescription {
    /// Reads the first line of a client program.
    init(_ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        let contract: Int = try fields.required("contract", read: Read.integer)
        name = try fields.required("name", read: Read.text)
        version = try fields.required("version", read: Read.text)
        codings = try fields.required("codings", read: Read.texts)
        givesReasons = try fields.optional("reasons", read: Read.flag) ?? false
        try fields.end()
        guard contract == Self.contract else {
            throw FieldError(line: value.line, what: "contract \(contract) instead of \(Self.contract)")
        }
    }
}

extension Read {
    static func anything(_ value: JSONValue) throws(FieldError) -> JSONValue { value }

    /// Reads names and values as bytes.
    static func byteFields(_ value: JSONValue) throws(FieldError) -> [(name: [UInt8], value: [UInt8])] {
        try list(of: pair(of: bytes))(value).map { (name: $0[0], value: $0[1]) }
    }

    /// Reads names and values as texts.
    static func textFields(_ value: JSONValue) throws(FieldError) -> [(name: String, value: String)] {
        try list(of: pair(of: text))(value).map { (name: $0[0], value: $0[1]) }
    }

    fileprivate static func dialling(_ value: JSONValue) throws(FieldError) -> RouteVector.Dialling {
        var fields = try Fields(value)
        var dialling = RouteVector.Dialling()
        dialling.keepsOrder = try fields.optional("keepsOrder", read: flag) ?? false
        dialling.passesOverWrongServers = try fields.optional("skipsWrongServers", read: flag) ?? false
        try fields.end()
        return dialling
    }

    fileprivate static func attempt(_ value: JSONValue) throws(FieldError) -> (
        address: String, ending: Ending
    ) {
        let words = try pair(of: text)(value)
        return (words[0], Ending(word: words[1]) ?? .other(words[1]))
    }

    fileprivate static func failure(_ value: JSONValue) throws(FieldError) -> RequestOutcome.Result {
        var fields = try Fields(value)
        let kind = try fields.optional("kind", read: text)
        let detail = try fields.optional("detail", read: text)
        let words = try fields.optional("text", read: text) ?? ""
        try fields.end()
        return .failed(kind: kind, detail: detail, text: words)
    }

    /// Reads the object that maps hosts with ports to addresses.
    fileprivate static func routes(_ value: JSONValue) throws(FieldError) -> [Job.Route] {
        guard case .object(let members) = value.content else { throw value.wrong("an object") }
        var routes: [Job.Route] = []
        for member in members {
            guard let colon = member.name.lastIndex(of: ":"),
                let port = UInt16(member.name[member.name.index(after: colon)...])
            else { throw FieldError(line: member.value.line, what: "\"\(member.name)\" has no port") }
            var host = String(member.name[..<colon])
            if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
            routes.append(Job.Route(host: host, port: port, addresses: try texts(member.value)))
        }
        return routes
    }
}
