internal import CDirectOpenSSL

/// The cipher suites and groups of a context.
extension TLSContext {
    /// Restricts cipher suites and groups to those of the settings, if they name any.
    func restrictAlgorithms() throws(TLSError) {
        if let suites = settings.cipherSuites { try restrict(toSuites: suites) }
        if let groups = settings.groups { try restrict(toGroups: groups) }
    }

    /// The suites of TLS 1.3 and of older versions are separate lists in OpenSSL. A version for which no
    /// suite is named is not offered.
    private func restrict(toSuites suites: [String]) throws(TLSError) {
        var new: [String] = []
        var old: [String] = []
        for suite in suites {
            guard let name = OPENSSL_cipher_name(suite).map({ String(cString: $0) }), name != "(NONE)" else {
                throw .badSettings("unknown cipher suite \(printable(suite))")
            }
            if name.hasPrefix("TLS_") { new.append(name) } else { old.append(name) }
        }
        let lowest = old.isEmpty ? TLS1_3_VERSION : lowestVersion
        let highest = new.isEmpty ? TLS1_2_VERSION : highestVersion
        guard !suites.isEmpty, lowest <= highest else {
            throw .badSettings(
                "no cipher suite is left for \(TLSVersion.text(of: lowestVersion)) to "
                    + TLSVersion.text(of: highestVersion)
            )
        }
        ErrorQueue.clear()
        guard new.isEmpty || SSL_CTX_set_ciphersuites(raw, new.joined(separator: ":")) == 1,
            old.isEmpty || SSL_CTX_set_cipher_list(raw, old.joined(separator: ":")) == 1,
            direct_SSL_CTX_set_version_range(raw, lowest, highest) == 1
        else { throw .badSettings("cipher suites: \(ErrorQueue.drainedReason())") }
        try refuseBareSuites()
    }

    /// Refuses suites that encrypt nothing, and those without a certificate.
    private func refuseBareSuites() throws(TLSError) {
        let suites = SSL_CTX_get_ciphers(raw)
        for index in 0..<max(0, OPENSSL_sk_num(suites)) {
            guard let suite = OPENSSL_sk_value(suites, index).map({ OpaquePointer($0) }) else { continue }
            guard
                SSL_CIPHER_get_cipher_nid(suite) == NID_undef
                    || SSL_CIPHER_get_auth_nid(suite) == NID_auth_null
            else { continue }
            throw .badSettings(
                "cipher suite without encryption or certificate: \(String(cString: SSL_CIPHER_get_name(suite)))"
            )
        }
    }

    private func restrict(toGroups groups: [String]) throws(TLSError) {
        // A colon, or an empty name, would change the meaning of the list.
        guard !groups.isEmpty, groups.allSatisfy({ !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: ":")) })
        else {
            throw .badSettings("the list of groups is empty or has an invalid name")
        }
        ErrorQueue.clear()
        guard direct_SSL_CTX_set1_groups_list(raw, groups.joined(separator: ":")) == 1 else {
            let names = groups.map(printable).joined(separator: ", ")
            throw .badSettings("groups \(names): \(ErrorQueue.drainedReason())")
        }
    }
}
