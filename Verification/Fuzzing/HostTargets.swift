import DirectHTTP
@testable import DirectHTTPHosts

extension FuzzTarget {
    /// Hosts and URLs as people type them.
    ///
    /// - A host that is made is one in ASCII, which stands for itself, and each of its A-labels is what the
    ///   conversion makes of what the label stands for.
    /// - A host in ASCII without A-labels is what the parser of hosts says.
    /// - The case of ASCII letters, and characters that are left out, make no difference.
    /// - A URL has the host that its text has alone, and the rest of one in ASCII.
    /// - Errors are of visible ASCII.
    static let hosts = FuzzTarget(name: "hosts") { choices in
        let cuts = choices.cuts(of: 300)
        let texts = choices.texts().map(\.text)
        let name = texts[0]
        let result = host(name)
        switch result {
        case .success(let host): requireSound(host)
        case .failure(let error): requirePlain(error.description)
        }
        requireSameSpellings(of: name, result, cutAt: cuts)
        if !InternationalName.isNeeded(for: name[...]) {
            requireEqual(try? result.get(), try? HTTPHost(name), "a host in ASCII is what its parser says")
        }
        requireSameInURL(name, alone: result)
        requireSoundURL(texts.dropFirst().first ?? name)
    }
}

private func host(_ text: String) -> Result<HTTPHost, InternationalHostError> {
    Result { () throws(InternationalHostError) in try HTTPHost(international: text) }
}

private func requireSound(_ host: HTTPHost) {
    let text = host.description
    require(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "visible ASCII")
    // The zone of an address has the case of its interface.
    require(host.address != nil || text.utf8.allSatisfy { $0 < 0x41 || $0 > 0x5A }, "lower case")
    requireEqual(try? HTTPHost(text), host, "the parser of hosts takes it")
    requireEqual(try? HTTPHost(international: text), host, "it stands for itself")
    for label in text.split(separator: ".") where label.hasPrefix("xn--") {
        guard let letters = Punycode.decode(Array(label.utf8)[4...]) else {
            return require(false, "an A-label")
        }
        var shown = String.UnicodeScalarView()
        shown.append(contentsOf: letters)
        // A rule about directions is for the whole name, and a name of a number is none.
        let again = try? InternationalName(String(shown)[...]).ascii
        if let again { requireEqual(again, String(label), "the conversion makes the A-label") }
    }
}

/// Letters of ASCII in the other case, and a character that is left out, at some places.
private func requireSameSpellings(
    of name: String,
    _ result: Result<HTTPHost, InternationalHostError>,
    cutAt cuts: [Int]
) {
    // Longer texts are refused, whatever is left out of them.
    guard case .success(let host) = result, name.utf8.count < 4000,
        InternationalName.isNeeded(for: name[...])
    else { return }
    var other = String.UnicodeScalarView()
    for (place, character) in name.unicodeScalars.enumerated() {
        if cuts.contains(place) { other.append("\u{AD}") }
        let isLetter = ("a"..."z").contains(character) || ("A"..."Z").contains(character)
        other.append(isLetter ? Unicode.Scalar(UInt8(ascii: character) ^ 0x20) : character)
    }
    requireEqual(try? HTTPHost(international: String(other)), host, "another spelling")
}

/// The name as the host of a URL.
private func requireSameInURL(_ name: String, alone result: Result<HTTPHost, InternationalHostError>) {
    guard name.utf8.allSatisfy({ !"@/?#\\:[] \t\r\n".utf8.contains($0) }), !name.hasSuffix(".") else {
        return
    }
    let url = try? HTTPURL(international: "https://me@\(name):8443/a?b")
    requireEqual(url?.host, try? result.get(), "the host of a URL is the host alone")
    if let url { requireEqual([url.path, url.query ?? "", "\(url.port)"], ["/a", "b", "8443"], "the rest") }
}

private func requireSoundURL(_ text: String) {
    do throws(InternationalHostError) {
        let url = try HTTPURL(international: text)
        requireSound(url.host)
        requireEqual(try? HTTPURL(url.text), url, "the text is the URL")
        if let plain = try? HTTPURL(text) {
            requireEqual(plain, url, "a URL in ASCII is what its parser says")
        }
    } catch {
        requirePlain(error.description)
    }
}

private func requirePlain(_ words: String) {
    require(words.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "an error is of visible ASCII")
}
