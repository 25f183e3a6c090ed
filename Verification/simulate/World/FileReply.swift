internal import CSimulation
internal import DirectCore

/// A version of a file as one server has it. No two have the same bytes.
struct FileContent: Hashable {
    let file: Int
    let host: Int
    let certificate: Material.Certificate
    let version: Int
    let size: Int

    /// The number of its bytes among those of all bodies.
    var body: Int {
        let kind = Material.Certificate.allCases.firstIndex(of: certificate) ?? 0
        return 3000 + ((file * Material.mostHosts + host) * 3 + kind) * 5 + version
    }

    var bytes: [UInt8] { Pattern.bytes(body, count: size) }
}

/// A server's reply to a download: the whole of a file, or the part that the request asks for.
struct FileReply {
    private(set) var status = 200
    /// The lines of the head that say what the body is.
    private(set) var lines: [String] = []
    private(set) var body: [UInt8] = []
    let content: FileContent

    /// - Parameter validator: What the reply says of the version; `nil` for nothing.
    init(
        _ head: ReceivedHead,
        content: FileContent,
        validator: FilePlan.Validator,
        fault: RangeFault?,
        now: UnixTime
    ) {
        self.content = content
        let field = Self.field(validator, version: content.version, now: now)
        let size = content.size
        let start = Self.start(of: head)
        let isMeant = head.value(of: "if-range").map { $0 == field?.value } ?? true
        var range: Range<Int>?
        switch fault {
        case .unasked where start == nil && size > 1: range = size / 2..<size
        case .noRange where start != nil: status = 416
        case .ignoresRange: break
        default:
            if let start, isMeant || fault == .ignoresCondition {
                if start < size { range = start..<size } else { status = 416 }
            }
        }
        if let asked = range, fault == .otherStart { range = asked.lowerBound / 2..<size }
        if let asked = range, fault == .laterStart { range = (asked.lowerBound + size) / 2..<size }
        if let asked = range, fault == .shorter {
            range = asked.lowerBound..<(asked.lowerBound + size + 1) / 2
        }
        if status == 416 {
            lines = ["Content-Range: bytes */\(size)"]
            return
        }
        body = content.bytes
        if fault == .coded { lines.append("Content-Encoding: gzip") }
        if let range {
            status = 206
            body = Array(body[range])
            // Nothing else tells that these are other bytes.
            if fault == .coded {
                let coded = Coding.compress(body, isGzip: true)
                body = Array((coded + [UInt8](repeating: 0, count: body.count)).prefix(body.count))
            }
            if fault == .tooLong { body += Array("more".utf8) }
            let length = fault == .otherLength ? size + 1 : size
            lines.append("Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)")
            if fault == .severalRanges { lines.append("Content-Type: multipart/byteranges; boundary=x") }
        }
        if let field, fault != .hidesValidator || range == nil {
            lines.append("\(field.name): \(field.value)")
        }
        lines.append("Date: \(HTTPDate.text(now))")
    }

    /// Returns the position that a request asks for; `nil` for the whole.
    static func start(of head: ReceivedHead) -> Int? {
        guard let range = head.value(of: "range"), range.hasPrefix("bytes="), range.hasSuffix("-") else {
            return nil
        }
        return Int(range.dropFirst(6).dropLast())
    }

    /// Returns the field that identifies a version, rightly or not.
    static func field(_ validator: FilePlan.Validator, version: Int, now: UnixTime) -> (
        name: String, value: String
    )? {
        switch validator {
        case .none: nil
        case .tag: ("ETag", "\"v\(version)\"")
        case .weakTag: ("ETag", "W/\"v\(version)\"")
        case .date:
            ("Last-Modified", HTTPDate.text(UnixTime(seconds: 1_700_000_000 + Int64(version) * 86_400)))
        case .recentDate: ("Last-Modified", HTTPDate.text(now.advanced(bySeconds: -10)))
        }
    }
}

/// The files of servers.
extension World {
    /// Returns the version of a call's file that a server has now.
    func content(forCall number: Int, host: Int, at place: Place?, certificate: Material.Certificate)
        -> FileContent?
    {
        guard let file = plan.calls[number].download?.file, let facts = plan.files?[file] else { return nil }
        let lag = (place?.address ?? 0) * facts.lag
        let version = facts.changes.filter { kernel.now >= 1_000_000_000 + UInt64($0 + lag) * 1000 }.count
        return FileContent(
            file: file,
            host: host,
            certificate: plan.hosts[host].isSecure ? certificate : .valid,
            version: version,
            size: facts.size(ofVersion: version)
        )
    }

    /// All contents that a file may have at any server.
    func contents(ofFile file: Int) -> [FileContent] {
        guard let facts = plan.files?[file] else { return [] }
        return plan.hosts.indices.flatMap { host in
            Material.Certificate.allCases.flatMap { certificate in
                (0...facts.changes.count).map { version in
                    FileContent(
                        file: file,
                        host: host,
                        certificate: certificate,
                        version: version,
                        size: facts.size(ofVersion: version)
                    )
                }
            }
        }
    }
}

/// Codings that servers give content.
enum Coding {
    static func compress(_ bytes: [UInt8], isGzip: Bool, isNoise: Bool = true) -> [UInt8] {
        // Large noise is only stored in the format: to search it for repetitions would take most of a world's
        // time. Of a megabyte so little would be left that clients refuse it.
        let level: Int32 = bytes.count > (isNoise ? 4000 : 400_000) ? 0 : 1
        var buffer = [UInt8](repeating: 0, count: bytes.count + bytes.count / 100 + 300)
        buffer.removeLast(
            buffer.count - sim_compress(bytes, bytes.count, isGzip ? 1 : 0, level, &buffer, buffer.count)
        )
        return buffer
    }
}
