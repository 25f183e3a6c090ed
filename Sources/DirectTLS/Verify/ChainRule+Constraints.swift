internal import CDirectOpenSSL

extension ChainRule {
    /// RFC 5280, section 4.2.1.10: "MUST be used only in a CA certificate".
    static let noConstraintsBelowAuthorities = ChainRule(
        "name constraints in a certificate that is not an authority's (RFC 5280, 4.2.1.10)"
    ) { certificate in
        certificate.has(NID_name_constraints) && !certificate.hasFlag(EXFLAG_CA)
    }

    /// RFC 5280, section 4.2.1.10: "MUST NOT issue certificates where name constraints is an empty sequence".
    /// Name constraints that cannot be decoded do not constrain anything either.
    static let noEmptyConstraints = ChainRule(
        "empty or unreadable name constraints (RFC 5280, 4.2.1.10)",
        code: X509_V_ERR_PERMITTED_VIOLATION
    ) { certificate in
        certificate.has(NID_name_constraints)
            && certificate.withNameConstraints { constraints in
                guard let constraints else { return true }
                let subtrees = [constraints.pointee.permittedSubtrees, constraints.pointee.excludedSubtrees]
                return subtrees.allSatisfy { OPENSSL_sk_num($0) <= 0 }
            }
    }

    /// A wildcard covers names that an authority above may not sign for (RFC 5280, section 4.2.1.10, and
    /// CVE-2025-61727): `*.example.com` below an authority that must not sign for `bar.example.com`.
    ///
    /// OpenSSL itself detects `*.bar.example.com`, whose text ends like the excluded name.
    static let noWildcardAcrossConstraints = ChainRule(
        "a wildcard that covers a name its authority must not sign for (RFC 5280, 4.2.1.10)",
        code: X509_V_ERR_EXCLUDED_VIOLATION
    ) { certificate in
        guard certificate.isServers else { return false }
        let chain = CheckedCertificate.all(of: certificate.chain)
        let constrained = chain.filter { $0.has(NID_name_constraints) }
        guard !constrained.isEmpty else { return false }
        // Both lists are as long as a server likes, and an override has them judged before any signature is.
        let parents = Set(certificate.names.dns.compactMap(parentOfWildcard))
        guard !parents.isEmpty else { return false }
        return constrained.contains { authority in
            authority.excludedNames.contains { excluded in
                parentName(of: excluded).map(parents.contains) ?? false
            }
        }
    }

    /// RFC 5280, section 4.2.1.10: a host name, neither with a period in front (which is for URIs) nor a
    /// wildcard.
    static let plainNameConstraints = ChainRule(
        "name constraints with a period or wildcard before the name (RFC 5280, 4.2.1.10)"
    ) { certificate in
        certificate.has(NID_name_constraints)
            && (certificate.excludedNames + certificate.permittedNames).contains {
                $0.hasPrefix(".") || $0.contains("*")
            }
    }
}

extension CheckedCertificate {
    /// Calls `body` with the decoded name constraints; `nil` if there are none or they cannot be decoded.
    fileprivate func withNameConstraints<Result>(
        _ body: (UnsafePointer<NAME_CONSTRAINTS>?) -> Result
    ) -> Result {
        withExtension(NID_name_constraints, free: { NAME_CONSTRAINTS_free(.init($0)) }) { decoded in
            body(decoded.map { UnsafePointer<NAME_CONSTRAINTS>($0) })
        }
    }

    fileprivate var excludedNames: [String] {
        withNameConstraints { dnsNames(in: $0?.pointee.excludedSubtrees) }
    }

    fileprivate var permittedNames: [String] {
        withNameConstraints { dnsNames(in: $0?.pointee.permittedSubtrees) }
    }
}

/// Returns the dNSName bases in lower case. Borrows the stack.
private func dnsNames(in subtrees: OpaquePointer?) -> [String] {
    (0..<max(0, OPENSSL_sk_num(subtrees))).compactMap { index in
        let subtree = OPENSSL_sk_value(subtrees, index)?.assumingMemoryBound(to: GENERAL_SUBTREE.self)
        var kind: Int32 = 0
        guard let base = subtree?.pointee.base, let value = ASN1Value(GENERAL_NAME_get0_value(base, &kind)),
            kind == GEN_DNS
        else { return nil }
        return value.utf8.lowercased()
    }
}

/// Returns `example.com` for `*.example.com`.
private func parentOfWildcard(_ name: String) -> String? {
    name.hasPrefix("*.") ? name.dropFirst(2).lowercased() : nil
}

/// Returns `example.com` for `bar.example.com`.
private func parentName(of name: String) -> String? {
    guard let dot = name.firstIndex(of: "."), dot != name.startIndex else { return nil }
    return String(name[name.index(after: dot)...])
}
