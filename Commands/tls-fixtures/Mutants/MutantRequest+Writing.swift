internal import DirectCore

extension MutantRequest {
    /// The head and the content of the request as bytes.
    ///
    /// - Parameter proxy: The proxy that gets the whole request.
    func written(
        _ mutation: Mutation?,
        proxy: Job.ProxyChoice?
    ) throws(MutantFault) -> (head: [UInt8], content: [UInt8]) {
        try check(mutation)
        var lines: [MutantField] = []
        func add(_ name: String, _ value: String, if isThere: Bool = true) {
            if isThere { lines.append(MutantField(name, value)) }
        }
        let hasNoHost = mutation == .noHost || proxy != nil && mutation == .noHostForProxies
        add("Host", host(mutation), if: !hasNoHost)
        add("User-Agent", "mutant/1", if: !fields.has("user-agent"))
        add("User-Agent", "again/1", if: mutation == .repeatsUserAgent)
        add("Accept", "*/*, ,text/html", if: mutation == .listsWithEmptyElements)
        add("Accept", "*/*;q = 0.5", if: mutation == .listsWithBlanks)
        let refers = mutation == .ownReferer || mutation == .ownRefererWithContent && body != nil
        add("Referer", url.withoutFragment.withoutCredentials.text, if: refers)
        lines += fields.without([
            "host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection",
            "te", "upgrade", "expect",
        ])
        add("Content-Type", "text/plain", if: mutation == .repeatsContentType && body != nil)
        add("Content-Type", "text/html", if: mutation == .repeatsContentType && body != nil)
        var content = addFraming(to: &lines, mutation)
        lines += connectionFields(mutation)
        add("Proxy-Authorization", proxy?.authorization ?? "", if: proxy?.authorization != nil)
        let expects =
            mutation == .expectsWithoutContent && body == nil
            || mutation == .expectsWithHEAD && method == "HEAD"
        add("Expect", "100-continue", if: expects)
        let version = mutation == .claimsNewerVersion ? " HTTP/1.2\r\n" : " HTTP/1.1\r\n"
        var head = method.bytesOfField + [32] + target(mutation, isForProxy: proxy != nil)
        head += Array(version.utf8)
        if mutation == .leadsWithBlank { head += Array(" X-Pad: 1\r\n".utf8) }
        for line in lines { head += line.line }
        if mutation == .prefixesLineEnd { head = [13, 10] + head }
        let isFollowed =
            mutation == .appendsLineEnd && body != nil || mutation == .appendsLineEndToChunks && isStream
        if isFollowed { content += [13, 10] }
        return (head + [13, 10], content)
    }

    /// Throws if the message cannot be written as HTTP.
    private func check(_ mutation: Mutation?) throws(MutantFault) {
        func isName(_ text: String) -> Bool {
            mutation == .sendsAnything
                || (mutation == .sendsCR ? text.filter { $0 != "\r" } : text).isToken
        }
        // Line ends with a blank are not seen in values by some.
        let folds: [Mutation: [[UInt8]]] = [
            .sendsFolds: [[13, 10, 32]], .sendsFoldsWithTabs: [[13, 10, 9]],
            .sendsFoldsWithoutCR: [[10, 32], [10, 9]],
        ]
        try demand(isName(method) && method != "CONNECT", "the method")
        for field in fields {
            try demand(isName(field.name), "the name of a field")
            var value = field.value.bytesOfField
            for fold in mutation.flatMap({ folds[$0] }) ?? [] {
                value = Array(value.split(separator: fold).joined())
            }
            let isClean = value.allSatisfy {
                $0 == 9 || $0 >= 32 && $0 != 127 || $0 == 13 && mutation == .sendsCR
                    || $0 != 10 && mutation == .sendsAnything
            }
            try demand(isClean, "the value of a field")
        }
        if method == "TRACE" {
            try demand(body == nil || mutation == .tracesWithContent, "TRACE with content")
            let secrets = ["cookie", "authorization", "proxy-authorization"].contains(where: fields.has)
            try demand(!secrets || mutation == .tracesSecrets, "TRACE with secrets")
        }
        let hosts = fields.values("host")
        try demand(hosts.isEmpty || hosts == [host(nil)], "Host of the caller")
    }

    private func host(_ mutation: Mutation?) -> String {
        if mutation == .hostWithoutPort { return String(url.authority.prefix { $0 != ":" }) }
        if mutation == .usersInHost, let user = url.user { return "\(user)@\(url.authority)" }
        return mutation == .hostIsAddress ? "127.0.0.1" : url.authority
    }

    private func target(_ mutation: Mutation?, isForProxy: Bool) -> [UInt8] {
        let target = url.targetBytes
        let user = mutation == .usersForProxies ? "me:secret@" : ""
        let absolute = Array("http://\(user)\(url.authority)".utf8) + target
        return switch mutation {
        case .authorityAsTarget where method != "GET": Array(url.authority.utf8)
        case .absoluteTargets: absolute
        case .pathsForProxies: target
        case _ where isForProxy: absolute
        case .emptyTargets where url.target == "/": []
        case .targetsWithoutQuery: Array(target.prefix { $0 != UInt8(ascii: "?") })
        case .queriesWithoutSlash where url.target.hasPrefix("/?"): Array(target.dropFirst())
        default: target
        }
    }

    /// Adds the fields of the framing, and returns the content as it is sent.
    private func addFraming(to lines: inout [MutantField], _ mutation: Mutation?) -> [UInt8] {
        func add(_ name: String, _ value: String) { lines.append(MutantField(name, value)) }
        guard let body, isStream || !body.isEmpty else {
            if ["POST", "PUT", "PATCH"].contains(method) { add("Content-Length", "0") }
            return []
        }
        if method == "OPTIONS", !fields.has("content-type"), mutation != .optionsWithoutType {
            add("Content-Type", "application/octet-stream")
        }
        if let coding = fields.value("transfer-encoding"), mutation == .codesWithoutChunks {
            add("Transfer-Encoding", coding)
            return body
        }
        let isUnframed = mutation == .sendsUnframed || mutation == .unframedOverTLS && url.scheme == .https
        if isUnframed || mutation?.rawValue == "unframed\(method)" { return body }
        let chunked = body.chunked
        let count =
            mutation == .lengthsInCharacters
            ? String(decoding: body, as: UTF8.self).unicodeScalars.count : body.count
        switch mutation {
        case .sendsBothFramings:
            add("Content-Length", "\(count)")
            add("Transfer-Encoding", "chunked")
            return chunked
        case _ where !isStream:
            add("Content-Length", "\(count)")
            return body
        case .streamsOfLengthZero, .streamsOfSignedLength:
            add("Content-Length", mutation == .streamsOfLengthZero ? "0" : "+\(count)")
            return body
        case .chunksTwice:
            add("Transfer-Encoding", "chunked, chunked")
            return chunked.chunked
        default: add("Transfer-Encoding", "chunked")
        }
        let (open, trailer) = (Array(chunked.dropLast(2)), Array("Content-Type: a/b\r\n".utf8))
        switch mutation {
        case .repeatsTrailers: return open + trailer + trailer + [13, 10]
        case .ownTrailers: return open + trailer + [13, 10]
        case .extensionsWithBlanks:
            let end = chunked.firstIndex(of: 13) ?? 0
            return chunked[..<end] + Array(";a = b".utf8) + chunked[end...]
        default: return chunked
        }
    }

    private func connectionFields(_ mutation: Mutation?) -> [MutantField] {
        let asked = fields.elements("connection")
        let known = mutation == .listsCacheControl ? ["close", "cache-control"] : ["close"]
        var options = asked.filter(known.contains)
        let te = fields.elements("te").filter { $0 != "chunked" || mutation == .chunkedInTE }
        if !te.isEmpty, mutation != .unlistedTE { options.append("TE") }
        let hasContent = body != nil
        let line: (name: String, value: String)? =
            switch mutation {
            case .unlistedTEWithContent where hasContent: ("TE", "trailers")
            case .unlistedTEOverTLS where url.scheme == .https: ("TE", "trailers")
            case .unlistedKeepAlive: ("Keep-Alive", "timeout=5")
            case .unlistedKeepAliveWithContent where hasContent: ("Keep-Alive", "timeout=5")
            case .unlistedUpgrade: fields.value("upgrade").map { ("Upgrade", $0) }
            case .unlistedUpgradeWithContent where hasContent: ("Upgrade", "h2c")
            default: nil
            }
        let lines = [("TE", te.joined(separator: ", ")), ("Connection", options.joined(separator: ", "))]
        return (lines.filter { !$0.1.isEmpty } + [line].compactMap(\.self)).map(MutantField.init)
    }
}

extension [UInt8] {
    /// One chunk with these bytes, and the last one.
    fileprivate var chunked: [UInt8] {
        let end = Array("0\r\n\r\n".utf8)
        return isEmpty ? end : Array("\(String(count, radix: 16))\r\n".utf8) + self + [13, 10] + end
    }
}
