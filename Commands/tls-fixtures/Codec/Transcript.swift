internal import DirectHTTP1

/// Everything that our response reader reports for one response. It must not depend on how the input is cut.
struct Transcript: Equatable {
    var outcome = "open"
    var interims: [UInt16] = []
    var head: ResponseHead?
    var framing = ResponseFraming.none
    var content: [UInt8] = []
    var trailers: HTTPHeaders?
    var leftover = 0
    var reuse = ReuseVerdict.reusable
    var keepAlive: KeepAliveHint?
}

/// The bytes of one response, and the settings of the reader.
struct ResponseBytes: Sendable {
    var input: [UInt8]
    var method = HTTPMethod.get
    var upgrade = false
    /// Whether the connection is closed cleanly after the input. `nil` if it stays open.
    var hasCleanEnd: Bool?
    var limits = HTTP1Limits()
    var leniency = HTTP1Leniency()

    /// Reads the input in pieces that begin at `cuts`, which must be in ascending order.
    func read(cutAt cuts: some Sequence<Int>) -> Transcript {
        var reader = ResponseReader(limits: limits, leniency: leniency)
        reader.begin(method, upgrade: upgrade)
        var transcript = Transcript()
        do throws(HTTP1Error) {
            try feed(&reader, cuts: cuts, transcript: &transcript)
        } catch {
            transcript.outcome = error.label
        }
        transcript.framing = reader.framing
        transcript.reuse = reader.reuse
        transcript.keepAlive = reader.keepAlive
        return transcript
    }

    /// Feeds the reader piece by piece, then reports the end of the connection if there is one.
    private func feed(
        _ reader: inout ResponseReader,
        cuts: some Sequence<Int>,
        transcript: inout Transcript
    ) throws(HTTP1Error) {
        var used = 0
        for cut in cuts where transcript.outcome == "open" {
            while try step(&reader, from: &used, to: cut, transcript: &transcript) {}
        }
        if transcript.outcome == "open" {
            while try step(&reader, from: &used, to: input.count, transcript: &transcript) {}
        }
        transcript.leftover = input.count - used
        guard let hasCleanEnd, transcript.outcome == "open" else { return }
        if case .end = try reader.endOfInput(clean: hasCleanEnd) { transcript.outcome = "end" }
    }

    /// Processes one event. Returns `false` if the piece is used up or the response has ended.
    private func step(
        _ reader: inout ResponseReader,
        from used: inout Int,
        to end: Int,
        transcript: inout Transcript
    ) throws(HTTP1Error) -> Bool {
        // Uses a slice because Array's own `span` requires macOS 26.
        let input = input[...]
        let step = try reader.next(input.span.extracting(used..<end))
        let start = used
        used += step.used
        switch step.event {
        case .needsMore: return false
        case .interim(let head): transcript.interims.append(head.status.code)
        case .head(let head):
            transcript.head = head
            guard reader.framing == .tunnel else { break }
            transcript.outcome = "tunnel"
            return false
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
