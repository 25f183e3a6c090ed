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
    /// The names of the fields that identify the sender, in lower case.
    let fieldNames: [String]

    /// A request that shows nothing of its sender.
    package static let anonymous = Asker(text: [], fieldNames: [])

    private init(text: [UInt8], fieldNames: [String]) {
        self.text = text
        self.fieldNames = fieldNames
    }

    /// Makes the asker of a request.
    ///
    /// - Parameters:
    ///   - headers: The fields of the request, before a store has added its cookies. `Authorization` and
    ///     `Cookie` identify a user; other fields of a caller count if `Vary` names them.
    ///   - own: The client's own fields that identify it, as far as they are sent if the request has none of
    ///     that name.
    ///   - cookies: The name of the store whose cookies are sent, whether or not it has any for this URL: the
    ///     response may set the first one.
    ///   - certificate: The name of the certificate that is shown to a server that asks for one.
    package init(
        _ headers: HTTPHeaders,
        own: HTTPHeaders = HTTPHeaders(),
        cookies: String? = nil,
        certificate: String? = nil
    ) {
        guard
            cookies != nil || certificate != nil || !own.isEmpty || headers.index(of: "authorization") != nil
                || headers.index(of: "cookie") != nil
        else {
            self = .anonymous
            return
        }
        var parts = Parts()
        if let cookies { parts.add("cookies", cookies.utf8) }
        if let certificate { parts.add("certificate", certificate.utf8) }
        let names = Set(["authorization", "cookie"] + own.map { $0.name.lowercased() }).sorted()
        var identifying: [String] = []
        for name in names {
            let sent = headers.contains(name) ? headers : own
            for index in sent.indices where sent[index].name.lowercased() == name {
                parts.add("field " + name, sent.valueBytes(at: index))
                identifying.append(name)
            }
        }
        self.init(text: parts.bytes, fieldNames: identifying)
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
