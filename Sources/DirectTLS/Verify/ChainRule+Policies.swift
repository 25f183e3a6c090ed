internal import CDirectOpenSSL

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
