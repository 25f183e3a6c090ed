internal import CDirectOpenSSL
internal import DirectCore

/// Trusted roots, found by their subject. They are taken apart when they are needed: to parse all roots of a
/// system takes about 17 ms, and a chain needs one.
///
/// A root belongs to it for good, so pointers to it are valid for as long as the index exists. Any thread may
/// use it.
final class RootIndex: @unchecked Sendable {
    private typealias Table = [UInt64: [Root]]

    private let roots: Locked<Table>
    /// Files that could not be read to their end.
    private let unfinished: [CertificateFile]

    private enum Root {
        /// In DER.
        case unread([UInt8])
        case read(ParsedRoot)
    }

    /// Indexes roots of the caller's, each of which has to be one.
    init(_ sources: [CertificateSource]) throws(TLSError) {
        var all: Table = [:]
        for source in sources {
            let list =
                switch source {
                case .pem(let bytes): try CertificateList(pem: bytes, as: "roots")
                case .pemFile(let path):
                    try CertificateList(pem: try RootFile(path: path).bytes(), as: "roots from \(path)")
                case .der(let bytes): try CertificateList(der: bytes)
                }
            try Self.add(list, to: &all)
        }
        (roots, unfinished) = (Locked(all), [])
    }

    /// Indexes the system's roots.
    ///
    /// - Parameters:
    ///   - files: Files of which any may have a fault: it is none of the others' concern, nor of the roots in
    ///     front of it.
    ///   - bundle: A text in PEM that has to have roots and no fault.
    init(files: [CertificateFile] = [], bundle: [UInt8]?, of role: String) throws(TLSError) {
        var all: Table = [:]
        unfinished = files.filter { !Self.add($0, to: &all) }
        if let bundle, !Self.add(blocksOf: bundle, to: &all) {
            // OpenSSL says what it is, or what is wrong with it.
            try Self.add(CertificateList(pem: bundle, as: role), to: &all)
        }
        roots = Locked(all)
    }

    /// Whether there is no root at all.
    var isEmpty: Bool { roots.withLock { $0.isEmpty } }

    /// Whether there were files with a fault, whose roots may be missing.
    var lacksRoots: Bool { !unfinished.isEmpty }

    /// Whether one of these files is another one now: it was being written when it was read. This reads them.
    var isOutdated: Bool {
        unfinished.contains { file in
            (try? RootFile(path: file.path, isRegular: true).contents()).map { $0 != file.text } ?? false
        }
    }

    private static func add(_ list: CertificateList, to all: inout Table) throws(TLSError) {
        for root in list.all {
            // A certificate for which there was no memory may count as read.
            let isDamaged = isDamagedRoot(root)
            guard !ErrorQueue.drainSaysNoMemory(), !isDamaged, X509_up_ref(root) == 1 else {
                throw .badSettings("roots: \(noMemory)")
            }
            all[key(of: X509_get_subject_name(root)), default: []].append(.read(ParsedRoot(root)))
        }
    }

    /// Adds the certificates of a file that stand in front of the first fault, as OpenSSL does.
    ///
    /// - Returns: Whether there is none.
    private static func add(_ file: CertificateFile, to all: inout Table) -> Bool {
        guard let text = file.text else { return false }
        if add(blocksOf: text, to: &all) { return true }
        let list = CertificateList(beginningOf: text)
        return (try? add(list, to: &all)) != nil && list.fault == nil
    }

    /// Adds the certificates of a text in PEM, if it is one as nearly all are. Otherwise it adds none.
    private static func add(blocksOf text: [UInt8], to all: inout Table) -> Bool {
        let blocks = PEMBlocks.certificates(in: text) ?? []
        let keys = blocks.compactMap(key(ofCertificate:))
        guard !blocks.isEmpty, keys.count == blocks.count else { return false }
        for (key, der) in zip(keys, blocks) { all[key, default: []].append(.unread(der)) }
        return true
    }

    /// Returns the roots of this subject. Valid for as long as the index. Those for which there is no memory
    /// are missing, and are read again the next time.
    func roots(named name: OpaquePointer?) -> [OpaquePointer] {
        let key = Self.key(of: name)
        return roots.withLock { all in
            guard let count = all[key]?.count else { return [] }
            return (0..<count).compactMap { place in
                guard let root = Self.read(&all[key, default: []][place]),
                    X509_NAME_cmp(X509_get_subject_name(root), name) == 0
                else { return nil }
                return root
            }
        }
    }

    /// Parses a root, if that has not been done.
    private static func read(_ root: inout Root) -> OpaquePointer? {
        guard case .unread(let der) = root else {
            if case .read(let certificate) = root { return certificate.raw }
            return nil
        }
        ErrorQueue.clear()
        let certificate = der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_X509(nil, &cursor, buffer.count)
        }
        let isDamaged = certificate.map(isDamagedRoot) ?? true
        guard !ErrorQueue.drainSaysNoMemory(), !isDamaged, let certificate else {
            X509_free(certificate)
            return nil
        }
        root = .read(ParsedRoot(certificate))
        return certificate
    }

    /// Returns what all spellings of a name have in common: letters of either case, in any string type, with
    /// any spaces (RFC 5280, section 7.1). Different names may have the same key.
    private static func key(of name: OpaquePointer?) -> UInt64 {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        guard X509_NAME_get0_der(name, &bytes, &count) == 1, let bytes else { return 0 }
        let der = Array(UnsafeBufferPointer(start: bytes, count: count))
        return DERElement.all(in: der[...])?.first.map(key(of:)) ?? 0
    }

    private static func key(ofCertificate der: [UInt8]) -> UInt64? {
        var rest = der[...]
        guard let certificate = DERElement(from: &rest) else { return nil }
        rest = certificate.content
        guard let body = DERElement(from: &rest) else { return nil }
        rest = body.content
        // A version may stand in front of serial number, algorithm, issuer, validity and subject.
        guard var part = DERElement(from: &rest) else { return nil }
        for _ in 0..<(part.tag == 0xA0 ? 5 : 4) {
            guard let next = DERElement(from: &rest) else { return nil }
            part = next
        }
        return key(of: part)
    }

    /// Element by element, since a system's roots have more than a thousand.
    private static func key(of name: DERElement) -> UInt64 {
        var key = emptyHash
        var sets = name.content
        while let set = DERElement(from: &sets) {
            // The members of a set are ordered by their bytes, so by their spelling.
            var sum: UInt64 = 0
            var pairs = set.content
            while let pair = DERElement(from: &pairs) {
                var parts = pair.content
                // The kind of the attribute, and its text.
                guard DERElement(from: &parts) != nil, let text = DERElement(from: &parts) else { continue }
                sum &+= hash(of: text)
            }
            key = (key ^ sum) &* hashFactor
        }
        return key
    }

    // FNV-1a.
    private static let emptyHash: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let hashFactor: UInt64 = 0x100_0000_01B3

    /// Returns a hash of the characters of a string that are ASCII, apart from spaces.
    private static func hash(of string: DERElement) -> UInt64 {
        var hash = emptyHash
        let text = string.content
        // BMPString and UniversalString have characters of two and four bytes.
        let width = string.tag == 0x1E ? 2 : string.tag == 0x1C ? 4 : 1
        for place in stride(from: text.startIndex + width - 1, to: text.endIndex, by: width) {
            let byte = text[place]
            guard byte > 0x20, byte < 0x7F,
                width == 1 || text[(place - width + 1)..<place].allSatisfy({ $0 == 0 })
            else { continue }
            let isCapital = (0x41...0x5A).contains(byte)
            hash = (hash ^ UInt64(isCapital ? byte | 0x20 : byte)) &* hashFactor
        }
        return hash
    }
}

/// A root that belongs to its index.
private final class ParsedRoot {
    /// Owned.
    let raw: OpaquePointer

    /// Takes over a reference.
    init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { X509_free(raw) }
}
