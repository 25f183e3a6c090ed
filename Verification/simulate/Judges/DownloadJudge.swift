internal import CSimulation
internal import DirectCore
internal import DirectHTTP
internal import DirectTLS

/// Judges downloads: what is in the files, what is asked for, and what is left after an interruption.
struct DownloadJudge {
    private let world: World
    private let number: Int
    private let download: DownloadPlan
    private var plan: Plan { world.plan }

    /// `nil` if the call downloads nothing.
    init?(_ world: World, number: Int) {
        guard let download = world.plan.calls[number].download else { return nil }
        self.world = world
        self.number = number
        self.download = download
    }

    // MARK: The caller's side

    /// The path that the call downloads to.
    var path: String {
        let folder = String(cString: sim_folder())
        return folder + (download.isAfterPowerFailure ? "\(number)-" : "") + "file\(download.file)"
    }

    /// Returns the caller's options.
    var options: DownloadOptions {
        let content = world.content(
            forCall: number,
            host: plan.calls[number].host,
            at: nil,
            certificate: .valid
        )
        guard let content else { return DownloadOptions() }
        switch download.expectation {
        case .nothing: return DownloadOptions()
        case .length: return DownloadOptions(length: UInt64(content.size))
        case .digest: return DownloadOptions(sha256: MessageDigest.sha256.digest(of: content.bytes))
        }
    }

    /// Prepares the files before the call, and notes what there is to continue.
    func begin() {
        if download.isAfterPowerFailure {
            let old = String(cString: sim_folder()) + "file\(download.file)"
            world.kernel.count("caller: download after a power failure")
            world.kernel.disk.copyAfterPowerFailure(from: old, to: path)
            if let bytes = world.kernel.disk.bytes(of: path) { judgeFile(bytes) }
        }
        // Parts of several URLs are continued only if a digest tells in the end whether they fit.
        let mayContinue = !hasJoinedParts || download.expectation == .digest
        if plan.disk == nil, mayContinue, !mayHaveBeenDoubted { world.calls[number].saved = saved }
    }

    /// Whether a digest may have shown that the parts of two hosts do not fit, and are of no use.
    private var mayHaveBeenDoubted: Bool {
        let others = plan.calls.filter { $0.download?.file == download.file }
        return Set(others.map(\.host)).count > 1 && others.contains { $0.download?.expectation == .digest }
    }

    /// Whether no other call has had the file since this one began.
    private var isAlone: Bool {
        let start = world.calls[number].start ?? 0
        return plan.calls.indices.allSatisfy { other in
            let state = world.calls[other]
            return other == number || plan.calls[other].download?.file != download.file || state.start == nil
                || state.isOver && state.end ?? 0 < start
        }
    }

    /// The bytes that the record beside a partial file counts, and whether they are all. A power failure may
    /// bring back an old record beside a file that has been emptied since, and take the first bytes.
    private var saved: (bytes: Int, isWhole: Bool)? {
        let disk = world.kernel.disk
        guard let part = disk.bytes(of: path + ".part") else { return nil }
        let lines = recordLines
        func value(_ name: String) -> Substring? {
            lines.first { $0.hasPrefix(name + " ") }?.dropFirst(name.count + 1)
        }
        let digest = value("sha256").flatMap { Hex.decode($0) }
        guard let saved = value("saved").flatMap({ Int($0) }), saved <= part.count, value("version") == nil,
            MessageDigest.sha256.digest(of: Array(part.prefix(saved))) == digest
        else { return nil }
        return (saved, "\(saved)" == value("length") ?? "")
    }

    /// Whether the partial file has parts of several URLs.
    private var hasJoinedParts: Bool { recordLines.contains("joined yes") }

    private var recordLines: [Substring] {
        let record = world.kernel.disk.bytes(of: path + ".part.info") ?? []
        return String(decoding: record, as: UTF8.self).split(separator: "\n")
    }

    /// Judges a download that has succeeded.
    func judge(_ result: DownloadResult) {
        world.kernel.count("judge: result of a download")
        if result.resumedBytes > 0 { world.kernel.count("caller: download continued") }
        if result.restarts > 0 { world.kernel.count("caller: download begun anew") }
        let isKnown = world.renamed[path, default: []].contains {
            $0.count == Int(result.size) && MessageDigest.sha256.digest(of: $0) == result.sha256
        }
        if !isKnown { world.fault("file", "call \(number) reports a file that is not at its path") }
        if let digest = options.sha256, plan.files?[download.file].changes.isEmpty == true,
            result.sha256 != digest
        {
            world.fault("file", "call \(number) succeeded with another digest")
        }
    }

    /// Judges what an interrupted download leaves: every byte that the caller was told of.
    func judge(_ error: any Error) {
        // What arrives when the call's time is over is told, and no longer written.
        if plan.calls[number].total != nil, case .timedOut? = (error as? HTTPError)?.reason { return }
        guard plan.isFileSimple(number), isAlone, let told = world.calls[number].progress,
            told > 0, [.tag, .date].contains(plan.files?[download.file].validator),
            !plan.calls[number].replies.contains(where: { $0.framing == .untilClose })
        else { return }
        world.kernel.count("judge: bytes kept of a download")
        if saved?.bytes ?? 0 < told {
            world.fault("progress", "of \(told) bytes of call \(number) \(saved?.bytes ?? 0) are kept")
        }
    }

    // MARK: The disk

    /// A file that gets its name is one version of one server, byte by byte.
    func judgeFile(_ bytes: [UInt8]) {
        world.kernel.count("judge: file of a download")
        let isWhole = world.contents(ofFile: download.file).contains { content in
            (bytes.count == content.size || mayBeCut && bytes.count < content.size)
                && Pattern.matches(bytes, body: content.body, from: 0)
        }
        if !isWhole { world.fault("file", "\(bytes.count) bytes of no version of file \(download.file)") }
    }

    /// Whether the end of a body may be its connection's: never with TLS, which has an end of its own.
    private var mayBeCut: Bool {
        plan.calls.contains { call in
            let hosts = [call.host] + call.replies.filter { (300..<400).contains($0.status) }.map(\.target)
            return call.download?.file == download.file && hosts.contains { !plan.hosts[$0].isSecure }
                && call.replies.contains {
                    $0.framing == .untilClose && ($0.rangeFault != .tooLong || $0.ending == .breaksOff)
                }
        }
    }

    // MARK: The server's side

    /// A part is asked for only if a response had a validator that joins parts, and as far as it came.
    func judge(_ head: ReceivedHead, isFirst: Bool) {
        world.kernel.count("judge: request of a download")
        let start = FileReply.start(of: head)
        if start == nil, head.value(of: "range") != nil || head.value(of: "if-range") != nil {
            world.fault("continued", "call \(number) asks for \(head.value(of: "range") ?? "no range")")
        }
        if let start {
            world.kernel.count("judge: request of a part")
            let condition = head.value(of: "if-range")
            let isKnown = world.announced[download.file, default: []].contains {
                $0.validator == condition && $0.end >= start
            }
            if !isKnown {
                world.fault("continued", "call \(number) asks for \(start)- of \(condition ?? "any version")")
            }
        }
        guard isFirst, isAlone, let saved = world.calls[number].saved else { return }
        world.kernel.count("judge: bytes used of a download")
        let expected = saved.bytes - (saved.isWhole ? 1 : 0)
        if (start ?? 0) != expected {
            world.fault("progress", "call \(number) asks for \(start ?? 0)-, and has \(saved.bytes) bytes")
        }
    }

    /// Notes what a response says of its version. Of a weak validator it says nothing.
    func note(_ reply: FileReply, validator: FilePlan.Validator) {
        guard [.tag, .date].contains(validator), reply.status != 416,
            let field = FileReply.field(validator, version: reply.content.version, now: .now)
        else { return }
        let announced = Announced(validator: field.value, end: reply.content.size)
        world.announced[download.file, default: []].append(announced)
    }
}
