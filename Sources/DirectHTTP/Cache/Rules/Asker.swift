internal import DirectCore
package import DirectHTTP1

/// The asker: all that a request shows of its sender, and for which a server may answer it otherwise than
/// others for the same URL.
///
/// It is one absolute value, made once a hop, when the way there and the final request are known. What was
/// stored for one asker is for no other, whatever `Vary` says: few servers send `Vary: Cookie` with the page
/// of a user, and none names a certificate in it. No part is relative to a client ("its own store"), because
/// a cache may belong to several, and a folder outlives them.
package struct Asker: Equatable, Sendable {
    /// All parts, each with its kind and its length in front. Empty for a request that shows nothing. It
    /// contains secrets: it is compared in memory, and only a digest of it is stored.
    let text: [UInt8]
    /// The names of the fields that may identify the sender, in lower case, also of those that are not sent.
    let fieldNames: [String]

    /// A request that shows nothing of its sender.
    package static let anonymous = Asker(HTTPHeaders())

    /// Whether the request shows nothing of its sender.
    var isAnonymous: Bool { text.isEmpty }

    package static func == (left: Asker, right: Asker) -> Bool { left.text == right.text }

    /// Makes the asker of a request.
    ///
    /// - Parameters:
    ///   - headers: The fields of the request, before a store has added its cookies. Those that carry
    ///     credentials identify a user, as far as their names tell; others count if `Vary` names them.
    ///   - own: The client's own fields that identify it, as far as they are sent if the request has none of
    ///     that name.
    ///   - names: The names of all such fields of the client's, in lower case, also of withheld ones.
    ///   - cookies: The name of the store whose cookies are sent, whether or not it has any for this URL: the
    ///     response may set the first one.
    ///   - certificate: The name of the certificate that is shown to a server that asks for one.
    ///   - place: What the client asks in place of the server that every other client asks.
    package init(
        _ headers: HTTPHeaders,
        own: HTTPHeaders = HTTPHeaders(),
        names: Set<String> = [],
        cookies: String? = nil,
        certificate: String? = nil,
        place: String? = nil
    ) {
        var parts = Parts()
        if let cookies { parts.add("cookies", cookies.utf8) }
        if let certificate { parts.add("certificate", certificate.utf8) }
        if let place { parts.add("place", place.utf8) }
        let sorted = headers.namesOfSecrets.union(names).union(own.lowercasedNames).sorted()
        for name in sorted {
            let sent = headers.contains(name) ? headers : own
            for index in sent.indices where sent[index].name.lowercased() == name {
                parts.add("field " + name, sent.valueBytes(at: index))
            }
        }
        (text, fieldNames) = (parts.bytes, sorted)
    }

    private struct Parts {
        private(set) var bytes: [UInt8] = []

        mutating func add(_ kind: String, _ value: some Collection<UInt8>) {
            for part in [Array(kind.utf8), Array(value)] {
                for shift in stride(from: 0, to: 64, by: 8) {
                    bytes.append(UInt8(truncatingIfNeeded: part.count >> shift))
                }
                bytes += part
            }
        }
    }
}
