import DirectCore
import DirectHTTP1

@testable import DirectHTTP
@testable import DirectResolvers

extension FuzzTarget {
    /// DNS messages.
    ///
    /// - Names are read as a simple parser reads them, and are equal exactly if their labels are, ignoring
    ///   case.
    /// - An answer has no address that is in no record, and none of the other type; times are below 2^31
    ///   seconds.
    /// - A query for any name is read back as that question, and is padded to a multiple of 128 bytes.
    static let dns = FuzzTarget(name: "dns") { choices in
        let type = choices.pick([DNSType.a, DNSType.aaaa, DNSType.https])
        let bytes = choices.rest()
        if let host = try? DomainName(bytes.text) { checkQuery(host, type: type) }
        guard let message = try? DNSMessage(bytes) else { return }
        checkNames(message)
        guard let answer = try? DNSAnswer(message, type: type) else { return }
        if type == DNSType.https { return require(answer.addresses.isEmpty, "no address in a record") }
        let records = message.answers.filter { $0.type == type }
        require(answer.addresses.count <= records.count, "an address for a record")
        for address in answer.addresses {
            require(address.timeToLive <= UInt32(Int32.max), "a time to live")
            requireEqual(
                address.address.family,
                type == DNSType.a ? .v4 : .v6,
                "the family that was asked for"
            )
            let isThere = records.contains { bytes[$0.data...].starts(with: address.address.bytes) }
            require(isThere, "an address of a record")
        }
    }
}

private func checkQuery(_ host: DomainName, type: UInt16) {
    for isPadded in [false, true] {
        let query = DNSQuery.message(host, type: type, isPadded: isPadded)
        require(!isPadded || query.count % 128 == 0, "padded")
        guard let message = try? DNSMessage(query), let question = message.question else {
            return require(false, "a query is a message")
        }
        require(!message.isResponse && question.type == type, "the question")
        require(query.withSpan { $0.isName(question.name, text: host.bytes) }, "the name")
    }
}

private func checkNames(_ message: DNSMessage) {
    let starts = ([message.question?.name].compactMap { $0 } + message.answers.map(\.name)).prefix(12)
    let names = starts.map { simpleName(message.bytes, at: $0) }
    message.bytes.withSpan { span in
        for (start, labels) in zip(starts, names) {
            let text = labels.joined().contains(0x2E) ? nil : Array(labels.joined(separator: [0x2E]))
            requireEqual(span.nameText(start), text, "the text of a name")
            for (other, otherLabels) in zip(starts, names) {
                let isSame = lowered(labels) == lowered(otherLabels)
                requireEqual(span.isSameName(start, second: other), isSame, "equal names")
            }
        }
    }
}

private func lowered(_ labels: [[UInt8]]) -> [[UInt8]] {
    labels.map { $0.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 } }
}

/// The labels of a name that the message has been checked for (RFC 1035, section 4.1.4).
private func simpleName(_ bytes: [UInt8], at start: Int) -> [[UInt8]] {
    let size = Int(bytes[start])
    if size == 0 { return [] }
    if size >= 0xC0 { return simpleName(bytes, at: (size & 0x3F) << 8 | Int(bytes[start + 1])) }
    return [Array(bytes[(start + 1)...(start + size)])] + simpleName(bytes, at: start + 1 + size)
}

extension FuzzTarget {
    /// Answers of resolver services: HTTPDNS of Alibaba and DNSPod, DNS over JSON, DNS over HTTPS.
    ///
    /// - Any body is an answer or an error whose text is one line of visible characters.
    /// - Addresses are of the type that was asked for and have no zone; times are not negative.
    static let httpdns = FuzzTarget(name: "httpdns") { choices in
        let format = choices.pick(formats)
        let type = choices.pick([DNSType.a, DNSType.aaaa, DNSType.https])
        var headers = choices.pick([[:], ["Cache-Control": "max-age=60", "Age": "5"]] as [HTTPHeaders])
        headers.add("Content-Type", "application/dns-message")
        let status: HTTPStatus = choices.pick([.ok, .ok, .ok, 403])
        let bytes = choices.rest()
        guard let host = try? DomainName("a.test"),
            let response = try? HTTPClient.Response(
                to: .init(.get, "https://a.test/"),
                status,
                headers: headers
            )
        else { return require(false, "a host and a response") }
        let question = ServiceQuestion(target: "/", type: type)
        do throws(ResolverError.Reason) {
            let answer = try format.answer(.init(response, bytes), host: host, question: question)
            check(answer, type: format is DNSJSONFormat || format is DNSMessageFormat ? type : nil)
        } catch {
            let isPlain = "\(error)".unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            require(isPlain, "an error is one line: \("\(error)".debugDescription)")
        }
    }

    private static let formats: [any ServiceFormat] = [
        DNSJSONFormat(path: "/resolve"),
        DNSPodFormat(id: nil, token: nil, clientAddress: nil),
        AlibabaOneFormat(account: "1", secret: nil, clientAddress: nil),
        AlibabaTwoFormat(account: "1", secret: nil, clientAddress: nil),
        DNSMessageFormat(path: "/dns-query", method: .get, isPadded: false),
    ]
}

private func check(_ answer: ServiceAnswer, type: UInt16?) {
    require(answer.seconds ?? 0 >= 0, "no negative time")
    require(type != DNSType.https || answer.addresses.isEmpty, "no address in a record")
    for address in answer.addresses {
        require(address.zone == nil, "no zone")
        if let type {
            requireEqual(address.family, type == DNSType.a ? .v4 : .v6, "the type that was asked for")
        }
    }
}
