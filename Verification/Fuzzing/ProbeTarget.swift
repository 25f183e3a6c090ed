import DirectCore

@testable import SNIProbe

extension FuzzTarget {
    /// The command line and the lists of sni-probe.
    ///
    /// - Any words and any line are read, or refused with a message that is short and safe to print.
    /// - A target that was read has a name, a port, and no more addresses than its limit.
    static let probe = FuzzTarget(name: "probe") { choices in
        let kind = choices.number(below: 3)
        let texts = choices.texts().map(\.text)
        switch kind {
        case 0: checkOptions(texts)
        case 1: for text in texts { checkLine(text) }
        default: for text in texts { checkWord(text) }
        }
    }
}

private func checkOptions(_ words: [String]) {
    // These read files, and files are not the input.
    let reading = ["-f", "--file", "--ca", "--expect"]
    guard !words.contains(where: { word in reading.contains { word.hasPrefix($0) } }) else { return }
    do throws(UsageError) {
        let options = try Options(words)
        if let jobs = options.jobs { require(jobs > 0, "at least one job") }
        if let rate = options.rate { require(rate > 0 && rate.isFinite, "a rate") }
        if let shard = options.shard { require(shard.number > 0 && shard.number <= shard.count, "a shard") }
    } catch {
        requireHarmless(error)
    }
}

private func checkLine(_ line: String) {
    do throws(TargetError) {
        let line = try TargetLine(line)
        for (target, ranges) in line.targets {
            require(!target.name.isEmpty && target.port > 0 && ranges.count < 5000, "a target")
        }
    } catch {
        requireHarmless(UsageError(error, in: "list\u{1B}.txt", line: 1))
    }
}

private func checkWord(_ word: String) {
    do throws(TargetError) {
        _ = try TargetWord(word)
    } catch {
        requireHarmless(UsageError(error))
    }
}

private func requireHarmless(_ error: UsageError) {
    let text = error.what + (error.hint ?? "")
    require(
        text.unicodeScalars.allSatisfy { !$0.isDeceptive },
        "harmless: \(text.debugDescription)"
    )
    require(text.utf8.count < 2000, "a short message")
    require(error.code == 64 || error.code == 66, "an exit code for usage")
}
