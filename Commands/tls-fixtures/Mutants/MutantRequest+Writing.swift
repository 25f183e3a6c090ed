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
        func add(_ name: String, _ value: String) { lines.append((Array(name.utf8), Array(value.utf8))) }
        add("Host", host(mutation))
        if mutation == .noHost || proxy != nil && mutation == .noHostForProxies { lines = [] }
        if !fields.has("user-agent") { add("User-Agent", "mutant/1") }
        if mutation == .repeatsUserAgent { add("User-Agent", "again/1") }
        if mutation == .listsWithEmptyElements { add("Accept", "*/*, ,text/html") }
        if mutation == .listsWithBlanks { add("Accept", "*/*;q = 0.5") }
        if mutation == .ownReferer || mutation == .ownRefererWithContent && body != nil {
            add("Referer", url.withoutFragment.withoutCredentials.text)
        }
        let owned: Set<String> = [
            "host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection",
            "te", "trailer", "upgrade", "expect",
        ]
        lines += fields.filter { !owned.contains($0.name.latin1.lowercased()) }
        if mutation == .repeatsContentType, body != nil {
            add("Content-Type", "text/plain")
            add("Content-Type", "text/html")
        }
        let content = addFraming(to: &lines, mutation)
        addConnection(to: &lines, mutation)
        if let field = proxy?.authorization { add("Proxy-Authorization", field) }
        if mutation == .expectsWithoutContent && body == nil
            || mutation == .expectsWithHEAD && method == "HEAD"
        {
            add("Expect", "100-continue")
        }
        var head =
            (method.latin1Bytes ?? Array(method.utf8)) + [32] + target(mutation, proxy: proxy)
            + Array(mutation == .claimsNewerVersion ? " HTTP/1.2\r\n".utf8 : " HTTP/1.1\r\n".utf8)
        if mutation == .leadsWithBlank { head += Array(" X-Pad: 1\r\n".utf8) }
        for line in lines { head += line.name + [58, 32] + line.value + [13, 10] }
        if mutation == .prefixesLineEnd { head = [13, 10] + head }
        let isFollowed =
            mutation == .appendsLineEnd && body != nil || mutation == .appendsLineEndToChunks && isStream
        return (head + [13, 10], isFollowed ? content + [13, 10] : content)
    }

    /// Throws if the message cannot be written as HTTP.
    private func check(_ mutation: Mutation?) throws(MutantFault) {
        let name = method.latin1Bytes ?? Array(method.utf8)
        func isToken(_ bytes: [UInt8]) -> Bool {
            !bytes.isEmpty && bytes.allSatisfy { $0.isTokenByte || $0 == 13 && mutation == .sendsCR }
        }
        guard mutation == .sendsAnything || isToken(name),
            method != "CONNECT"
        else { throw .refused("the method") }
        for field in fields {
            guard mutation == .sendsAnything || isToken(field.name) else {
                throw .refused("the name of a field")
            }
            var value = field.value
            for fold in mutation?.sentFolds ?? [] { value = value.without(fold) }
            let isClean = value.allSatisfy {
                $0 == 9 || $0 >= 32 && $0 != 127 || $0 == 13 && mutation == .sendsCR
                    || mutation == .sendsAnything
            }
            guard isClean, !value.contains(10) else { throw .refused("the value of a field") }
        }
        if method == "TRACE", mutation != .tracesWithContent, body != nil {
            throw .refused("TRACE with content")
        }
        let secrets: Set<String> = ["cookie", "authorization", "proxy-authorization"]
        if method == "TRACE", mutation != .tracesSecrets,
            fields.contains(where: { secrets.contains($0.name.latin1.lowercased()) })
        {
            throw .refused("TRACE with secrets")
        }
        if fields.has("host"), fields.values("host") != [Array(host(nil).utf8)] {
            throw .refused("Host of the caller")
        }
    }

    private func host(_ mutation: Mutation?) -> String {
        mutation == .hostIsAddress ? "127.0.0.1" : url.authority
    }

    private func target(_ mutation: Mutation?, proxy: Job.ProxyChoice?) -> [UInt8] {
        let absolute = Array("http://\(url.authority)".utf8) + url.targetBytes
        if mutation == .authorityAsTarget, method != "GET" { return Array(url.authority.utf8) }
        if proxy != nil { return mutation == .pathsForProxies ? url.targetBytes : absolute }
        if mutation == .absoluteTargets { return absolute }
        if mutation == .emptyTargets, url.target == "/" { return [] }
        if mutation == .targetsWithoutQuery {
            return Array(url.targetBytes.prefix { $0 != UInt8(ascii: "?") })
        }
        if mutation == .queriesWithoutSlash, url.target.hasPrefix("/?") {
            return Array(url.targetBytes.dropFirst())
        }
        return url.targetBytes
    }

    /// Adds the fields of the framing, and returns the content as it is sent.
    private func addFraming(to lines: inout [MutantField], _ mutation: Mutation?) -> [UInt8] {
        func add(_ name: String, _ value: String) { lines.append((Array(name.utf8), Array(value.utf8))) }
        guard let body else {
            if ["POST", "PUT", "PATCH"].contains(method) { add("Content-Length", "0") }
            return []
        }
        if method == "OPTIONS", !fields.has("content-type"), mutation != .optionsWithoutType {
            add("Content-Type", "application/octet-stream")
        }
        if let coding = fields.values("transfer-encoding").first, mutation == .codesWithoutChunks {
            lines.append((Array("Transfer-Encoding".utf8), coding))
            return body
        }
        let isUnframed = mutation == .sendsUnframed || mutation == .unframedOverTLS && url.scheme == .https
        if isUnframed || mutation?.unframedMethod == method { return body }
        guard isStream else {
            let text = String(decoding: body, as: UTF8.self).unicodeScalars
            add("Content-Length", "\(mutation == .lengthsInCharacters ? text.count : body.count)")
            guard mutation == .sendsBothFramings else { return body }
            add("Transfer-Encoding", "chunked")
            return body.chunked
        }
        if mutation == .streamsOfLengthZero || mutation == .streamsOfSignedLength {
            add("Content-Length", mutation == .streamsOfLengthZero ? "0" : "+\(body.count)")
            return body
        }
        if mutation == .sendsBothFramings { add("Content-Length", "\(body.count)") }
        add("Transfer-Encoding", mutation == .chunksTwice ? "chunked, chunked" : "chunked")
        let chunks = mutation == .chunksTwice ? body.chunked.chunked : body.chunked
        if mutation == .repeatsTrailers || mutation == .ownTrailers {
            let line = Array("Content-Type: a/b\r\n".utf8)
            return Array(chunks.dropLast(2)) + line + (mutation == .ownTrailers ? [] : line) + [13, 10]
        }
        guard mutation == .extensionsWithBlanks, let end = chunks.firstIndex(of: 13) else { return chunks }
        return chunks[..<end] + Array(";a = b".utf8) + chunks[end...]
    }

    private func addConnection(to lines: inout [MutantField], _ mutation: Mutation?) {
        func add(_ name: String, _ value: String) { lines.append((Array(name.utf8), Array(value.utf8))) }
        var options = fields.elements("connection").filter { $0 == "close" }
        if fields.elements("connection").contains("cache-control"), mutation == .listsCacheControl {
            options.append("cache-control")
        }
        let te = fields.elements("te").filter { $0 != "chunked" || mutation == .chunkedInTE }
        let isSecure = url.scheme == .https
        switch mutation {
        case .unlistedTEWithContent where body != nil: add("TE", "trailers")
        case .unlistedTEOverTLS where isSecure: add("TE", "trailers")
        case .unlistedKeepAliveWithContent where body != nil: add("Keep-Alive", "timeout=5")
        case .unlistedUpgradeWithContent where body != nil: add("Upgrade", "h2c")
        default: break
        }
        if !te.isEmpty {
            add("TE", te.joined(separator: ", "))
            if mutation != .unlistedTE { options.append("TE") }
        }
        if mutation == .unlistedKeepAlive { add("Keep-Alive", "timeout=5") }
        if mutation == .unlistedUpgrade, fields.has("upgrade") {
            lines += fields.filter { $0.name.latin1.lowercased() == "upgrade" }
        }
        if !options.isEmpty { add("Connection", options.joined(separator: ", ")) }
    }
}

extension [UInt8] {
    /// One chunk with these bytes, and the last one.
    fileprivate var chunked: [UInt8] {
        let end = Array("0\r\n\r\n".utf8)
        return isEmpty ? end : Array("\(String(count, radix: 16))\r\n".utf8) + self + [13, 10] + end
    }

    fileprivate func without(_ part: [UInt8]) -> [UInt8] {
        var rest = self
        while let found = rest.firstRange(of: part) { rest.removeSubrange(found) }
        return rest
    }
}

extension Mutation {
    /// The line ends with a blank that are not seen in values.
    fileprivate var sentFolds: [[UInt8]] {
        switch self {
        case .sendsFolds: [[13, 10, 32]]
        case .sendsFoldsWithTabs: [[13, 10, 9]]
        case .sendsFoldsWithoutCR: [[10, 32], [10, 9]]
        default: []
        }
    }

    /// The method whose content alone is not framed.
    fileprivate var unframedMethod: String? {
        rawValue.hasPrefix("unframed") ? String(rawValue.dropFirst("unframed".count)) : nil
    }
}
