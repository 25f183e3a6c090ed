import DirectHTTP1

/// All that a reader says about the bytes of one exchange, however they were cut.
struct Transcript: Equatable {
    var outcome = "open"
    var interims: [ResponseHead] = []
    var head: ResponseHead?
    var framing = ResponseFraming.none
    var content: [UInt8] = []
    var trailers: Headers?
    var leftover = 0
    var reuse = ReuseVerdict.reusable
    var keepAlive: KeepAliveHint?
    var otherCodings = false
}

/// One exchange to be read.
struct Exchange {
    var input: [UInt8]
    var method = Method.get
    var upgrade = false
    /// Whether the stream's end is clean; nil if it does not end.
    var cleanEnd: Bool?
    var limits = HTTP1Limits()
    var leniency = HTTP1Leniency()

    /// Reads the input in pieces that begin at `cuts`, which are in order.
    func read(cutAt cuts: some Sequence<Int>) -> Transcript {
        var reader = ResponseReader(limits: limits, leniency: leniency)
        reader.begin(method, upgrade: upgrade)
        var transcript = Transcript()
        do throws(HTTP1Error) {
            try feed(&reader, cuts: Array(cuts), &transcript)
        } catch {
            transcript.outcome = error.label
        }
        transcript.framing = reader.framing
        transcript.reuse = reader.reuse
        transcript.keepAlive = reader.keepAlive
        transcript.otherCodings = reader.hasOtherTransferCodings
        return transcript
    }

    private func feed(
        _ reader: inout ResponseReader,
        cuts: [Int],
        _ transcript: inout Transcript
    ) throws(HTTP1Error) {
        var used = 0
        for end in cuts + [input.count] {
            while try step(&reader, from: &used, to: end, &transcript) {}
            if transcript.outcome != "open" { break }
        }
        transcript.leftover = input.count - used
        guard let cleanEnd, transcript.outcome == "open" else { return }
        if case .end = try reader.endOfInput(clean: cleanEnd) { transcript.outcome = "end" }
    }

    /// Takes one step; false if that was the last one with these bytes.
    private func step(
        _ reader: inout ResponseReader,
        from used: inout Int,
        to end: Int,
        _ transcript: inout Transcript
    ) throws(HTTP1Error) -> Bool {
        let step = try reader.next(input.span.extracting(used..<end))
        let start = used
        used += step.used
        switch step.event {
        case .needsMore: return false
        case .interim(let head): transcript.interims.append(head)
        case .head(let head):
            transcript.head = head
            if reader.framing == .tunnel {
                transcript.outcome = "tunnel"
                return false
            }
        case .content(let range):
            transcript.content += input[(start + range.lowerBound)..<(start + range.upperBound)]
        case .trailers(let trailers): transcript.trailers = trailers
        case .end:
            transcript.outcome = "end"
            return false
        }
        return true
    }
}
