/// A file that every host has. Its content is another one at each host and behind each certificate, although
/// the validators are the same.
struct FilePlan: Codable, Equatable {
    /// What its responses say of the version.
    enum Validator: String, Codable, CaseIterable {
        case tag, weakTag
        /// A date that is old enough to identify a version.
        case date
        /// A date that is too recent for that.
        case recentDate
        case none
    }

    var size = 0
    /// When the content changes, and by how much each version is longer than the one before.
    var changes: [Int] = []
    var growth = 0
    /// By how much each further address of a host is late with a change.
    var lag = 0
    var validator = Validator.tag

    func size(ofVersion version: Int) -> Int { size + version * growth }
}

/// A call that downloads to a file.
struct DownloadPlan: Codable, Equatable {
    /// What the caller knows of the content.
    enum Expectation: String, Codable, CaseIterable {
        case nothing, length, digest
    }

    /// The number of the file, at the server and at the client.
    var file = 0
    var expectation = Expectation.nothing
    /// Whether it finds what a power failure has left of the client's files.
    var isAfterPowerFailure = false
}

/// What a server does wrong, or in a rare way, when it is asked for a part of a file.
enum RangeFault: String, Codable, CaseIterable {
    /// Sends the whole.
    case ignoresRange
    /// Sends a part of a version that was not asked for.
    case ignoresCondition
    /// Sends a part that begins elsewhere, and says so.
    case otherStart
    /// Sends a part that begins later than it was asked for, and says so.
    case laterStart
    /// Sends less than it was asked for.
    case shorter
    /// Says that there is no such range.
    case noRange
    /// Says that the whole has another length.
    case otherLength
    /// Codes the content, whatever is asked for. A part is as long as the one that it should be.
    case coded
    /// Says that it sends several ranges.
    case severalRanges
    /// Sends a part although the request asks for none.
    case unasked
    /// Sends more bytes than it says.
    case tooLong
    /// Does not repeat the validator.
    case hidesValidator

    /// Those that are drawn at first. The others take the place of some of these.
    static let usual = allCases.filter { $0 != .laterStart }
}

/// Downloads are drawn here.
extension Plan {
    /// Lets most calls download, several of them to the same file.
    mutating func downloadFiles(_ dice: inout Dice) {
        let isSmall = network.segmentLimit < 1000
        let drawn = (0..<dice.number(in: 1...2)).map { _ in FilePlan(drawnFrom: &dice, isSmall: isSmall) }
        files = drawn
        if dice.chance(25) {
            disk = DiskPlan(
                failures: dice.one(of: [0, 10, 60]),
                shortCalls: dice.one(of: [0, 30]),
                capacity: dice.one(of: [nil, nil, 10_000, 1_500_000])
            )
        }
        if dice.chance(20) { client.acceptsAnyCertificate = true }
        if dice.chance(40) { return interruptDownloads(&dice) }
        if dice.chance(40) { return disputeDownloads(&dice) }
        let isAlone = dice.chance(60)
        for call in calls.indices where dice.chance(75) {
            makeDownload(call, drawnFrom: &dice)
            // Downloads to one file at a time: each continues what the one before has left.
            if isAlone { (calls[call].follows, calls[call].start) = (call > 0, 0) }
            if isAlone, call > 0 { calls[call].cancellation = nil }
        }
    }

    /// Downloads of one file that are interrupted and continued, while everything else works.
    private mutating func interruptDownloads(_ dice: inout Dice) {
        calmDown()
        (disk, client.acceptsAnyCertificate) = (nil, nil)
        files?[0].changes = []
        files?[0].validator = dice.one(of: [.tag, .tag, .date])
        for call in calls.indices {
            makeDownload(call, drawnFrom: &dice)
            calls[call].download?.file = 0
            (calls[call].host, calls[call].follows) = (0, false)
            (calls[call].start, calls[call].work) = (call * dice.one(of: [300_000, 1_000_000]), 0)
            if dice.chance(30) { calls[call].cancellation = dice.number(in: 0...200) * 1000 }
            if dice.chance(40) { calls[call].total = dice.number(in: 1...200) * 1000 }
            for reply in calls[call].replies.indices {
                (calls[call].replies[reply].status, calls[call].replies[reply].rangeFault) = (200, nil)
                if calls[call].replies[reply].framing == .untilClose {
                    calls[call].replies[reply].framing = .length
                }
                (calls[call].replies[reply].parts, calls[call].replies[reply].pause) = (
                    dice.number(in: 1...20), dice.one(of: [0, 1000, 20_000])
                )
            }
        }
    }

    /// Downloads that break off, while servers disagree: versions, URLs, or certificates.
    private mutating func disputeDownloads(_ dice: inout Dice) {
        calmDown()
        (disk, client.acceptsAnyCertificate) = (nil, nil)
        let dispute = dice.below(3)
        files?[0].size = network.segmentLimit < 1000 ? 5000 : 40_000
        files?[0].growth = 0
        files?[0].lag = 0
        files?[0].validator = .tag
        files?[0].changes = []
        if dispute == 0 { files?[0].changes = (1...3).map { $0 * dice.one(of: [20_000, 200_000]) } }
        for host in hosts.indices { hosts[host].isSecure = hosts[0].isSecure }
        if dispute == 2 {
            (client.acceptsAnyCertificate, client.proxy) = (true, .none)
            hosts[0].addresses = [.works, .unknownIssuer, .wrongCertificate].shuffled(using: &dice).map {
                AddressPlan(fate: $0)
            }
        }
        for call in calls.indices {
            makeDownload(call, drawnFrom: &dice)
            calls[call].download?.file = 0
            calls[call].download?.expectation = .nothing
            (calls[call].host, calls[call].follows, calls[call].start) = (0, call > 0, dice.below(2) * 50_000)
            for reply in calls[call].replies.indices {
                let isLast = reply == calls[call].replies.count - 1
                calls[call].replies[reply].status = dispute == 1 && !isLast && dice.chance(40) ? 307 : 200
                calls[call].replies[reply].framing = .length
                calls[call].replies[reply].ending = dice.chance(60) ? .breaksOff : .complete
                calls[call].replies[reply].rangeFault =
                    dispute == 0 && dice.chance(70) ? .ignoresCondition : nil
            }
        }
    }

    private mutating func makeDownload(_ call: Int, drawnFrom dice: inout Dice) {
        let file = dice.below(files?.count ?? 1)
        calls[call].download = DownloadPlan(
            file: file,
            expectation: dice.one(of: [.nothing] + DownloadPlan.Expectation.allCases),
            isAfterPowerFailure: dice.chance(10)
        )
        (calls[call].kind, calls[call].reading, calls[call].resource) = (.get, .fetch, nil)
        (calls[call].upload, calls[call].expectsContinue) = (0, false)
        if dice.chance(80) { calls[call].host = file % hosts.count }
        let isFaulty = dice.chance(30)
        for reply in calls[call].replies.indices {
            if dice.chance(70) { calls[call].replies[reply].status = 200 }
            if calls[call].replies[reply].ending == .complete, dice.chance(20) {
                calls[call].replies[reply].ending = .breaksOff
            }
            if calls[call].replies[reply].framing == .untilClose, dice.chance(60) {
                calls[call].replies[reply].framing = .length
            }
            if calls[call].replies[reply].ending == .floods { calls[call].replies[reply].ending = .complete }
            if isFaulty, dice.chance(50) {
                calls[call].replies[reply].rangeFault = dice.one(of: RangeFault.usual)
            }
        }
    }
}

extension FilePlan {
    fileprivate init(drawnFrom dice: inout Dice, isSmall: Bool) {
        self.init()
        size = dice.one(of: [0, 1, 10, 3000, 40_000, 40_000, isSmall ? 5000 : 200_000])
        if !isSmall, dice.chance(10) { size = dice.one(of: [1_200_000, 2_500_000]) }
        if dice.chance(40) {
            changes = (0..<dice.number(in: 1...3)).map { _ in dice.number(in: 0...600) * 1000 }.sorted()
            growth = dice.one(of: [0, 0, 1, 5000])
            lag = dice.one(of: [0, 0, 50_000, 1_000_000])
        }
        validator = dice.one(of: [.tag, .tag, .tag, .date] + Validator.allCases)
    }
}

extension Plan {
    /// The first call of the task that makes the call.
    func firstCall(ofTask number: Int) -> Int { calls[...number].lastIndex { !$0.follows } ?? 0 }

    /// Whether everything that servers say of the call's file is true, and all of it is of one version.
    func isFileSimple(_ number: Int) -> Bool {
        guard let download = calls[number].download, let file = files?[download.file] else { return false }
        return file.changes.isEmpty && disk == nil && client.acceptsAnyCertificate != true
            && calls.allSatisfy { other in
                other.download?.file != download.file
                    || other.host == calls[number].host
                        && other.replies.allSatisfy { $0.rangeFault == nil && $0.status == 200 }
            }
    }
}
