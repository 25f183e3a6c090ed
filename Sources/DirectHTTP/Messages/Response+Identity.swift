internal import DirectCore
internal import DirectTLS

extension HTTPTransaction {
    /// What the server is known by if it has not proved to be the URL's host: the name that it has proved instead, the key
    /// that an override has accepted, or the Unix domain socket of a plain connection.
    ///
    /// `nil` if it has proved to be the host, and over plain HTTP, where no server proves anything.
    fileprivate func unprovedIdentity(for url: HTTPURL) -> String? {
        guard let tls else { return unixSocket.map { "unix \($0.path)" } }
        guard tls.acceptedFault == nil else {
            return "key \(Hex.encode(tls.certificate?.spkiSHA256 ?? []))"
        }
        return tls.verifiedName == url.host.description ? nil : "name \(tls.verifiedName)"
    }
}

extension Response {
    /// What the server is known by if it has not proved to be the URL's host. `nil` if it has, and for a response that no
    /// connection brought.
    var unprovedIdentity: String? { transaction?.unprovedIdentity(for: url) }
}
