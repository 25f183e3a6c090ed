import CDirectOpenSSL
import TLSFixtures
import Testing

@testable import DirectTLS

@Suite("Certificates in staples")
struct ResponderTests {
    private let root = TestAuthority("Root")

    private func status(_ response: [UInt8], of leaf: FixtureCertificate) throws -> StapleJudgement.Status? {
        let context = try SurveyContext(roots: .only([.der(root.rootDER)]))
        return try #require(ServedChain(der: [leaf.der], context: context)).judge(staple: response)?.status
    }

    /// A response of a responder of the authority's.
    private func response(
        about leaf: FixtureCertificate,
        _ change: (inout CertificateProfile) -> Void = { _ in }
    ) throws -> [UInt8] {
        var profile = CertificateProfile([], commonName: "Responder")
        profile.purposes = [.ocspSigning]
        change(&profile)
        let responder = try root.issue(profile)
        return try root.ocspResponse(for: leaf, from: 1_577_836_800, to: 4_102_444_800, by: responder)
    }

    @Test("A responder's key is as strong as a server's has to be")
    func strength() throws {
        let leaf = root.certificate(for: "a.test")
        #expect(try status(response(about: leaf), of: leaf) == .good)
        #expect(try status(response(about: leaf) { $0.key = .rsa(2048) }, of: leaf) == .good)
        guard case .unusable? = try status(response(about: leaf) { $0.key = .rsa(1024) }, of: leaf) else {
            return #expect(Bool(false), "a weak key was good")
        }
    }

    @Test("A staple with many certificates is not read, however small they are", arguments: [0, 6, 7, 400])
    func many(number: Int) throws {
        let leaf = root.certificate(for: "a.test")
        let bytes = try response(about: leaf)
        let parsed = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_OCSP_RESPONSE(nil, &cursor, buffer.count)
        }
        defer { OCSP_RESPONSE_free(parsed) }
        let basic = OCSP_response_get1_basic(parsed)
        defer { OCSP_BASICRESP_free(basic) }
        // They are not part of what is signed. The responder's own is there already.
        for _ in 0..<number { OCSP_basic_add1_cert(basic, TestCertificate.authority.x509) }
        let longer = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
        defer { OCSP_RESPONSE_free(longer) }
        let response = CertificateReader.encoded { i2d_OCSP_RESPONSE(longer, $0) }
        let tooMany = StapleJudgement.Status.unusable("it has too many certificates")
        #expect(try status(response, of: leaf) == (number < 7 + 1 ? .good : tooMany))
        // The same in BER, in which a string may come in pieces, and a list without its length.
        #expect(try status(inPieces(response), of: leaf) == .unusable(StapledStatus.unreadable))
        // The same with a tag of two bytes, in which OpenSSL reads a small number, too.
        #expect(try status(withLongTag(response), of: leaf) == .unusable(StapledStatus.unreadable))
    }

    /// The response, in which the tag of the certificates has two bytes and hides their length from readers of
    /// one: what follows is an element without content, and one that ends where the first certificate's name
    /// begins another.
    private func withLongTag(_ response: [UInt8]) throws -> [UInt8] {
        let parts = try #require(DERElement.all(in: response[...])?.first?.elements)
        let body = try #require(parts[1].elements?.first?.elements)
        let basic = try #require(DERElement.all(in: body[1].content)?.first?.elements)
        func element(_ tag: [UInt8], _ content: some Collection<UInt8>) -> [UInt8] {
            tag + [0x83] + [16, 8, 0].map { UInt8(truncatingIfNeeded: content.count >> $0) } + content
        }
        let signed = basic.prefix(3).flatMap { element([$0.tag], $0.content) }
        let certificates = basic.dropFirst(3).flatMap { element([0xBF, 0x00], $0.content) }
        let string = element([0x04], element([0x30], signed + certificates))
        let bytes = element([0x30], element([0x06], body[0].content) + string)
        let long = element([0x30], element([0x0A], parts[0].content) + element([0xA0], bytes))
        let read = long.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_OCSP_RESPONSE(nil, &cursor, buffer.count)
        }
        // Else it would be no test.
        try #require(read != nil)
        defer { OCSP_RESPONSE_free(read) }
        let parsed = OCSP_response_get1_basic(read)
        try #require(parsed != nil)
        OCSP_BASICRESP_free(parsed)
        return long
    }

    /// The response whose content is a string of two pieces, the first of them empty.
    private func inPieces(_ response: [UInt8]) throws -> [UInt8] {
        let parts = try #require(DERElement.all(in: response[...])?.first?.elements)
        let body = try #require(parts[1].elements?.first?.elements)
        func element(_ tag: UInt8, _ content: some Collection<UInt8>) -> [UInt8] {
            [tag, 0x83] + [16, 8, 0].map { UInt8(truncatingIfNeeded: content.count >> $0) } + content
        }
        let string = element(0x24, [0x04, 0x00] + element(0x04, body[1].content))
        let bytes = element(0x06, body[0].content) + string
        let pieces = element(
            0x30,
            element(0x0A, parts[0].content) + element(0xA0, element(0x30, bytes))
        )
        let read = pieces.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_OCSP_RESPONSE(nil, &cursor, buffer.count)
        }
        // Else it would be no test.
        try #require(read != nil)
        OCSP_RESPONSE_free(read)
        return pieces
    }
}
