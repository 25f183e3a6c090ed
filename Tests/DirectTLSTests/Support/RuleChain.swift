import CDirectOpenSSL
import TLSFixtures

@testable import DirectTLS

/// A chain as OpenSSL hands it to the rules after its own checks.
final class RuleChain {
    private let stack: OpaquePointer

    /// From the server's certificate to the root, in DER form.
    init(_ chain: [[UInt8]]) throws {
        guard let stack = OPENSSL_sk_new_null() else { throw Unexpected("no memory") }
        self.stack = stack
        for bytes in chain {
            let certificate = bytes.withUnsafeBufferPointer { buffer in
                var cursor = buffer.baseAddress
                return d2i_X509(nil, &cursor, buffer.count)
            }
            guard let certificate else { throw Unexpected("not a certificate") }
            OPENSSL_sk_push(stack, UnsafeRawPointer(certificate))
        }
    }

    deinit {
        for index in 0..<OPENSSL_sk_num(stack) { X509_free(OpaquePointer(OPENSSL_sk_value(stack, index))) }
        OPENSSL_sk_free(stack)
    }

    /// How far from the server's certificate the rule is broken; nil where it is kept.
    func depth(breaking rule: ChainRule) -> Int32? {
        [rule].violations(in: stack).first?.certificate.depth
    }
}

extension ChainRule {
    /// The depth at which a chain of these certificates breaks the rule.
    func isBroken(by certificates: FixtureCertificate...) throws -> Int32? {
        try RuleChain(certificates.map(\.der)).depth(breaking: self)
    }
}
