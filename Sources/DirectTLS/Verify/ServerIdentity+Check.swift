internal import CDirectOpenSSL

/// Wildcards for whole labels only, and never the subject's common name (RFC 9525, sections 6.3 and 6.4).
let nameCheckFlags = UInt32(
    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
)

extension ServerIdentity {
    /// Makes OpenSSL check the name or address. Returns false if it cannot.
    func demand(in parameters: OpaquePointer?) -> Bool {
        X509_VERIFY_PARAM_set_hostflags(parameters, nameCheckFlags)
        return switch kind {
        case .name: X509_VERIFY_PARAM_set1_host(parameters, text, 0) == 1
        case .address: X509_VERIFY_PARAM_set1_ip_asc(parameters, text) == 1
        }
    }
}
