// Tests of the half of DirectTLS that asks Apple's trust store, on Linux, with the model of that store
// (Security/model.c). Helpers and servers are those of DirectTLSTests.

import CDirectOpenSSL
import Glibc
import SecurityModel
import TLSFixtures

@testable import DirectTLS

private func expect(_ condition: Bool, _ rule: String) {
    if condition { return print("good: \(rule)") }
    print("WRONG: \(rule)")
    exit(1)
}

private func trust(_ certificate: FixtureCertificate) { model_trust(certificate.der, certificate.der.count) }

private func publish(_ certificate: FixtureCertificate) {
    model_publish(certificate.der, certificate.der.count)
}

/// The result of a handshake by the system's roots with a server that sends the certificate.
private func visit(
    _ leaf: FixtureCertificate,
    as identity: ServerIdentity,
    _ configure: (inout TLSSettings) -> Void = { _ in }
) throws -> (step: TLSStep, client: TLSConnection) {
    var settings = TLSSettings()
    configure(&settings)
    let pair = try Pair(TestServer(leaf), TLSContext(settings), identity)
    return (pair.shake(), pair.client)
}

private func fault(_ leaf: FixtureCertificate) throws -> CertificateFault? {
    if case .failed(.certificateRejected(let fault)) = try visit(leaf, as: .name("a.test")).step {
        fault
    } else {
        nil
    }
}

private func acceptAndRefuse() throws {
    let root = TestAuthority("System Root"), issuer = try root.intermediate()
    let leaf = issuer.certificate(for: "a.test")
    let before = try fault(leaf)
    expect(before?.kind == .unknownIssuer, "a root that the system does not know is refused")
    expect(
        before?.reason.hasPrefix("the system's trust store: ") == true
            && before?.reason.contains("NSOSStatusErrorDomain error -67843") == true,
        "the reason is the system's: \(before?.reason ?? "none")"
    )
    // Apple's "Trust settings": the user and the administrator of a device can add roots.
    trust(root.certificate)
    let (step, client) = try visit(leaf, as: .name("a.test"))
    expect(step == .moved(0), "a root is known from the moment on at which it is installed")
    let chain = [leaf.der, issuer.rootDER, root.rootDER]
    expect(client.facts.certificates.map(\.der) == chain, "the facts have the chain of the system")
    expect(model_was_named() == 1, "the system is told the name")

    var profile = CertificateProfile(for: "a.test")
    profile.validity = .expired
    let expired = try fault(root.issue(profile))
    expect(
        expired?.kind == .distrusted && expired?.reason.contains("-67818") == true,
        "an expired certificate is refused for a reason that no override takes for a harmless one"
    )

    let other = try visit(root.certificate(for: "b.test"), as: .name("a.test")).step
    expect(other.error == .nameMismatch(expected: "a.test", served: ["b.test"]), "we refuse another name")
    let address = try visit(root.certificate(for: "127.0.0.1"), as: .address("127.0.0.1")).step
    expect(address == .moved(0) && model_was_named() == 0, "an address is no name for the system")
}

private func fetch() throws {
    let root = TestAuthority("System Root"), issuer = try root.intermediate()
    let alone = issuer.certificate(for: "a.test").sent(with: [])
    trust(root.certificate)
    publish(issuer.certificate)
    expect(try visit(alone, as: .name("a.test")).step.isFailure, "nothing is fetched")
    let (step, client) = try visit(alone, as: .name("a.test")) { $0.systemFetchesIssuers = true }
    expect(step == .moved(0), "but where the settings say so")
    expect(client.facts.certificates.count == 3, "and what was fetched is in the chain")
}

private func fallBack() throws {
    let root = TestAuthority("File Root")
    var path = Array("/tmp/direct-http-root-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    let name = path.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    defer { unlink(name) }
    let pem = Array(root.rootPEM.utf8)
    expect(write(file, pem, pem.count) == pem.count && close(file) == 0, "a file of roots is written")
    setenv("SSL_CERT_FILE", name, 1)
    defer { unsetenv("SSL_CERT_FILE") }
    let evaluations = model_evaluations()
    expect(
        try visit(root.certificate(for: "a.test"), as: .name("a.test")).step == .moved(0)
            && model_evaluations() == evaluations,
        "files that the environment names take the place of the system's roots"
    )
}

/// Lets each object in turn be refused by the system.
private func runOutOfMemory() throws {
    let root = TestAuthority("System Root")
    let leaf = root.certificate(for: "a.test")
    trust(root.certificate)
    var failures = 0
    for count in 0..<100 {
        model_fail_after(count)
        let step = try visit(leaf, as: .name("a.test")).step
        model_fail_after(-1)
        guard step.isFailure else { break }
        guard case .failed(.certificateRejected) = step else {
            return expect(false, "without memory the error is a typed one: \(step)")
        }
        failures += 1
        expect(model_objects() == 0, "without the object \(count) the server is refused, and nothing is left")
    }
    // Data and certificate for each of the server's, the array, the name, the policy, the trust, the chain.
    expect(failures >= 8, "each object is missed: \(failures)")
}

// As in an app: files that the environment names would come first.
for variable in ["SSL_CERT_FILE", "SSL_CERT_DIR"] { unsetenv(variable) }
for test in [acceptAndRefuse, fetch, fallBack, runOutOfMemory] {
    try test()
    model_forget()
    expect(model_objects() == 0, "every object has been released")
}
