internal import DirectHTTP

/// Produces the probes of the command line and its files, one at a time and on demand.
///
/// Nothing is kept of probes that were returned, so a million lines take no more memory than ten. Networks
/// are expanded one address at a time.
///
/// Addresses and targets combine as follows:
/// - a target with its own addresses is probed at these,
/// - a target without addresses is probed at all addresses of the command line that belong to no target,
/// - addresses alone on a line of a file belong to the targets of the command line without addresses,
/// - a target that has no addresses after all that is resolved.
///
/// Regular files are checked before the first probe, so that a bad line stops the run before it begins.
final class ProbeFeed {
    /// The result of `step`.
    enum Step {
        case probe(Probe)
        /// A target without addresses, which must be resolved.
        case resolve(ProbeTarget)
        /// The next line has not arrived. Call `readMore` when this descriptor is readable.
        case needsInput(Int32)
        /// A line that cannot be parsed. Without `--skip-bad` it is the last step before the end.
        case badLine(UsageError)
        case end
    }

    private enum Item {
        case expansion(Expansion)
        case resolve(ProbeTarget)
    }

    /// The items of the command line, later those of the current line.
    private var items: [Item] = []
    private var next = 0
    private var sources: [LineSource]
    /// The targets of the command line without their own addresses. Files may contain addresses for them.
    private var openTargets: [ProbeTarget] = []
    /// The addresses of the command line that belong to no particular target.
    private var openRanges: [ProbeAddresses] = []
    /// Whether the open targets have got any addresses.
    private var openTargetsServed = false
    private let skipsBad: Bool
    private let upgrade: StartTLS?
    private let countsAnswers: Bool
    private let shard: Options.Shard?
    private var index = 0
    /// Whether there was any target, in this shard or another.
    private(set) var hasFoundAny = false
    /// Whether a target was a URL, on the command line or in a file.
    private(set) var hasFoundURL: Bool

    /// Opens and checks the files.
    ///
    /// - Throws: ``UsageError`` if a file cannot be read, or has a bad line and `--skip-bad` is not set.
    init(_ options: Options) throws(UsageError) {
        skipsBad = options.skipsBad
        upgrade = options.settings.upgrade
        countsAnswers = options.settings.repeats > 1
        shard = options.shard
        hasFoundURL = options.hasURL
        sources = []
        for path in options.files { sources.append(try LineSource(path)) }
        for case .addresses(let found) in options.words { openRanges += found }
        for case .target(let given, let own) in options.words {
            let target = given.withPort(of: upgrade)
            if own.isEmpty { openTargets.append(target) }
            // What a file says may still give it addresses.
            if sources.isEmpty || !(own.isEmpty && openRanges.isEmpty) {
                add(target, at: own, from: .argument)
            }
        }
        openTargetsServed = sources.isEmpty || !openRanges.isEmpty
        try checkFiles()
        // Options that have no effect are reported before the first probe, if all of the input is known by
        // then.
        if !skipsBad, sources.allSatisfy(\.isFile), !options.requestOptions.isEmpty, !hasFoundURL {
            throw options.requestOptionsWithoutRequest
        }
    }

    /// Returns the next step of this shard.
    func step() -> Step {
        while true {
            let step = nextStep()
            switch step {
            case .probe, .resolve:
                hasFoundAny = true
                guard let shard else { return step }
                index += 1
                if shard.takes(index - 1) { return step }
            default: return step
            }
        }
    }

    /// Reads once from the source that returned `needsInput`.
    func readMore() {
        sources.first?.fill()
    }

    private func nextStep() -> Step {
        while true {
            if let step = takeItem() { return step }
            guard let source = sources.first else { return .end }
            switch source.next() {
            case .needsInput: return .needsInput(source.descriptor)
            case .line(let text, let number):
                do throws(UsageError) {
                    try take(text, file: source.name, number: number)
                } catch {
                    return bad(error)
                }
            case .fault(let fault, let number): return bad(UsageError(fault, in: source.name, line: number))
            case .end:
                if let failure = source.failure { return bad(failure) }
                sources.removeFirst()
                if sources.isEmpty { resolveOpenTargets() }
            }
        }
    }

    private func takeItem() -> Step? {
        while next < items.count {
            switch items[next] {
            case .resolve(let target):
                next += 1
                return .resolve(target)
            case .expansion(var expansion):
                if let probe = expansion.next() {
                    items[next] = .expansion(expansion)
                    return .probe(probe)
                }
                next += 1
            }
        }
        items.removeAll(keepingCapacity: true)
        next = 0
        return nil
    }

    private func take(_ text: String, file: String, number: Int) throws(UsageError) {
        let line = try parse(text, file: file, number: number)
        // The addresses after an alias belong to the targets of the command line.
        if line.isAlias, !openTargets.isEmpty { return }
        let source = Probe.Source.file(name: file, line: number)
        if !line.addresses.isEmpty {
            openTargetsServed = true
            items.append(.expansion(Expansion(targets: openTargets, ranges: line.addresses, source: source)))
        }
        for (target, own) in line.targets {
            add(target.withPort(of: upgrade), at: own, from: own.isEmpty ? .argument : source)
        }
    }

    /// Adds a target with its own addresses, or with those that belong to no target.
    private func add(_ target: ProbeTarget, at own: [ProbeAddresses], from source: Probe.Source) {
        let ranges = own.isEmpty ? openRanges : own
        guard !ranges.isEmpty else { return items.append(.resolve(target)) }
        items.append(.expansion(Expansion(targets: [target], ranges: ranges, source: source)))
    }

    private func parse(_ text: String, file: String, number: Int) throws(UsageError) -> TargetLine {
        do throws(TargetError) {
            let line = try TargetLine(text)
            guard line.addresses.isEmpty || !openTargets.isEmpty else { throw .noTarget }
            if line.targets.contains(where: { $0.target.url != nil }) {
                hasFoundURL = true
                guard upgrade == nil else { throw .badURL(text, why: "--starttls is for hosts") }
            }
            if countsAnswers, line.targets.contains(where: { !$0.target.usesTLS }) {
                throw .badURL(text, why: "--repeat counts handshakes, and this is http://")
            }
            return line
        } catch {
            throw UsageError(error, in: file, line: number)
        }
    }

    private func bad(_ error: UsageError) -> Step {
        if !skipsBad { sources.removeAll() }
        return .badLine(error)
    }

    /// Resolves the open targets if no file had addresses for them.
    private func resolveOpenTargets() {
        guard !openTargetsServed else { return }
        items += openTargets.map(Item.resolve)
    }

    /// Parses every regular file once before the first probe, so that a mistake in line 900 is reported now.
    private func checkFiles() throws(UsageError) {
        guard !skipsBad else { return }
        var faults: [UsageError] = []
        for source in sources where source.isFile {
            check: while faults.count < Self.mostFaults {
                switch source.next() {
                case .line(let text, let number):
                    do throws(UsageError) { _ = try parse(text, file: source.name, number: number) } catch {
                        faults.append(error)
                    }
                case .fault(let fault, let number):
                    faults.append(UsageError(fault, in: source.name, line: number))
                case .needsInput, .end: break check
                }
            }
            if let failure = source.failure { throw failure }
            source.rewind()
        }
        guard let first = faults.first else { return }
        let others = faults.dropFirst().map { "\nsni-probe: \($0.what)" }.joined()
        throw UsageError(
            first.what + others,
            hint: first.hint ?? "nothing was probed; --skip-bad leaves such lines out"
        )
    }

    /// The maximum number of bad lines that are reported.
    private static let mostFaults = 5
}

/// An iterator over targets and addresses: all addresses of the first target, then all of the next.
private struct Expansion {
    let targets: [ProbeTarget]
    let ranges: [ProbeAddresses]
    let source: Probe.Source
    private var target = 0
    private var range = 0
    private var index = 0

    init(targets: [ProbeTarget], ranges: [ProbeAddresses], source: Probe.Source) {
        self.targets = targets
        self.ranges = ranges
        self.source = source
    }

    mutating func next() -> Probe? {
        guard target < targets.count, range < ranges.count else { return nil }
        let probe = Probe(
            target: targets[target],
            address: ranges[range][index],
            port: ranges[range].port ?? targets[target].port,
            source: source
        )
        index += 1
        if index == ranges[range].count { (range, index) = (range + 1, 0) }
        if range == ranges.count { (target, range) = (target + 1, 0) }
        return probe
    }
}
