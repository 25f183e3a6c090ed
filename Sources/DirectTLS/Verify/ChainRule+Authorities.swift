internal import CDirectOpenSSL

/// Rules for the certificates of authorities.
extension ChainRule {
    /// RFC 5280, section 4.2.1.9: authorities are marked as such by basicConstraints. OpenSSL accepts a root
    /// or an old certificate without it.
    static let caHasBasicConstraints = ChainRule(
        "an authority without basicConstraints (RFC 5280, 4.2.1.9)"
    ) { certificate in
        !certificate.isServers && !certificate.isAuthority
    }

    /// Baseline Requirements, section 7.1.2.7.8: a subscriber's certificate is not an authority's.
    static let leafIsNotCA = ChainRule(
        "an authority's certificate used by a server (Baseline Requirements, 7.1.2.7.8)"
    ) { certificate in
        certificate.isServers && certificate.isAuthority
    }

    /// Baseline Requirements, section 7.1.2.1.3: a root's authorityKeyIdentifier, if there is one, contains
    /// the root's own key identifier, and neither issuer nor serial number.
    static let rootsPointToThemselves = ChainRule(
        "a root's authorityKeyIdentifier is not just its own key identifier (Baseline Requirements, 7.1.2.1.3)"
    ) { certificate in
        guard certificate.isRoot, certificate.has(NID_authority_key_identifier) else { return false }
        guard X509_get0_authority_issuer(certificate.raw) == nil,
            X509_get0_authority_serial(certificate.raw) == nil,
            let named = X509_get0_authority_key_id(certificate.raw),
            let own = X509_get0_subject_key_id(certificate.raw)
        else { return true }
        return ASN1_OCTET_STRING_cmp(named, own) != 0
    }

    /// Baseline Requirements, section 7.1.2.1.2: a root's certificate does not limit what the root may sign
    /// for.
    static let rootHasNoEKU = ChainRule(
        "a root with extKeyUsage (Baseline Requirements, 7.1.2.1.2)"
    ) { certificate in
        certificate.isRoot && !certificate.isServers && certificate.has(NID_ext_key_usage)
    }

    /// RFC 5280, section 4.1.2.2: positive, and at most 20 bytes long. Many good roots have the number 0, and
    /// roots are not revoked by their numbers.
    static let positiveSerialNumbers = ChainRule(
        "a serial number that is not positive or is too long (RFC 5280, 4.1.2.2)"
    ) { certificate in
        guard !certificate.isRoot else { return false }
        guard let number = ASN1Value(X509_get0_serialNumber(certificate.raw)), !number.isNegative else {
            return true
        }
        let digits = number.bytes
        // The highest bit is the sign bit: a 20-byte number that has it set takes 21 bytes.
        let length = digits.count + (digits.first.map { $0 >= 0x80 } == true ? 1 : 0)
        return length > 20 || digits.allSatisfy { $0 == 0 }
    }
}

/// The names that they may sign for.
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

/// The policies that they demand.
extension ChainRule {
    /// RFC 5280, sections 4.2.1.11 and 6.1: if an authority requires by policyConstraints that the
    /// certificates below it have a policy in common with those above, they have one.
    ///
    /// OpenSSL can check that, but does so only if told to. In other chains there is no need for the check: a
    /// client that requires no policy of its own, as TLS clients do not, accepts any or none.
    static let demandedPolicyIsThere = ChainRule(
        "no valid policy, though an authority requires one (RFC 5280, 4.2.1.11)",
        code: X509_V_ERR_NO_EXPLICIT_POLICY
    ) { certificate in
        guard certificate.isServers else { return false }
        let chain = CheckedCertificate.all(of: certificate.chain)
        guard chain.contains(where: { $0.has(NID_policy_constraints) }) else { return false }
        return !hasDemandedPolicy(certificate.chain)
    }
}

/// Whether the policies of the chain meet the requirements of its authorities. Borrows the stack.
///
/// Policies that cannot be read, or contradict each other, do not meet them. Nor does any chain if memory
/// runs out.
private func hasDemandedPolicy(_ chain: OpaquePointer) -> Bool {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    // The initial set of section 6.1.1: any policy. An absent set means none to OpenSSL.
    guard let wanted = OPENSSL_sk_new_null() else { return false }
    defer { OPENSSL_sk_free(wanted) }
    guard OPENSSL_sk_push(wanted, UnsafeRawPointer(OBJ_nid2obj(NID_any_policy))) > 0 else { return false }
    var tree: OpaquePointer?
    var isDemanded: Int32 = 0
    defer { X509_policy_tree_free(tree) }
    return X509_policy_check(&tree, &isDemanded, chain, wanted, 0) == X509_PCY_TREE_VALID
}
