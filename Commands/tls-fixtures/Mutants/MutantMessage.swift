/// A field of a message. Each character stands for a byte.
struct MutantField {
    var name: String
    var value: String

    /// The name as it is compared.
    var key: String { name.lowercased() }
    var line: [UInt8] { "\(name): \(value)\r\n".bytesOfField }

    init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    init(name: [UInt8], value: [UInt8]) { self.init(name.latin1, value.latin1) }
}

extension [MutantField] {
    func values(_ name: String) -> [String] { filter { $0.key == name }.map(\.value) }
    func value(_ name: String) -> String? { first { $0.key == name }?.value }
    func has(_ name: String) -> Bool { value(name) != nil }

    /// The elements of fields that are lists, in lower case and without the empty ones.
    func elements(_ name: String) -> [String] {
        values(name).flatMap { $0.lowercased().split(separator: ",") }.map(\.withoutBlanks)
            .filter { !$0.isEmpty }
    }

    func without(_ names: [String]) -> [MutantField] { filter { !names.contains($0.key) } }
}

/// A response as the mutant client has read it.
struct MutantResponse {
    var version = ""
    var status = 0
    var reason = ""
    var fields: [MutantField] = []
    var trailers: [MutantField] = []
    var interims: [UInt16] = []
    var content: [UInt8] = []
    /// What a cache did for it.
    var use: String?
    /// Whether some of it is missing.
    var isIncomplete = false
}

/// The fields that say where a message ends.
private let framing = ["content-length", "transfer-encoding"]

extension MutantStream {
    /// Reads a response to a request with this method.
    func response(to method: String) throws(MutantFault) -> MutantResponse {
        var interims: [UInt16] = []
        while true {
            var response = try head()
            let status = response.status
            let isUnknown = (104..<200).contains(status) || status % 100 > 90
            let fails = mutation?.rawValue == "unknown\(status / 100)xxFails"
            try demand(!isUnknown || !fails, "an unknown status")
            let isInterim = (100..<200).contains(status) && status != 101 && mutation != .interimsAreFinal
            if isInterim, mutation != .oneInterim || interims.isEmpty {
                try demand(interims.count < 100, "too many interim responses")
                interims.append(UInt16(status))
                continue
            }
            response.interims = interims
            try readContent(of: &response, to: method)
            return response
        }
    }

    private func head() throws(MutantFault) -> MutantResponse {
        var response = MutantResponse()
        let line = try line()
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        let isClean = !line.unicodeScalars.contains {
            $0 == "\0" || $0 == "\r" && mutation != .keepsCRInReason
        }
        guard words.count >= 2, words[0].utf8.count == 8, words[0].hasPrefix("HTTP/1."), isClean,
            words[0].suffix(1).isDigits, words[1].utf8.count == 3, words[1].isDigits,
            let status = Int(words[1]), status >= 100
        else { throw .refused("the status line is none") }
        response.version = String(words[0].dropFirst(5))
        response.status = status
        response.reason = words.count > 2 ? String(words[2]) : ""
        response.fields = try fields(&response.reason)
        let numbers = response.fields.values("content-range").flatMap { $0.split { !$0.isNumber } }
        try demand(mutation != .largeRangesFail || numbers.allSatisfy { Int($0) != nil }, "a large range")
        return response
    }

    /// Reads field lines up to the empty one.
    private func fields(
        _ reason: inout String,
        isTrailer: Bool = false
    ) throws(MutantFault) -> [MutantField] {
        let keepsCR = mutation == (isTrailer ? .keepsCRInTrailers : .keepsCR)
        var (fields, leading) = ([MutantField](), 0)
        while true {
            var line = try line()
            if line.isEmpty { return fields }
            try demand(fields.count < 1000, "too many fields")
            if line.first == " " || line.first == "\t" {
                line = line.withoutBlanks
                if let last = fields.indices.last {
                    let isCut = mutation == .foldsEndFraming && framing.contains(fields[last].key)
                    if mutation == .foldsEndValues || isCut { continue }
                    let fold = mutation == .keepsFolds ? "\r\n " : " "
                    fields[last].value = (fields[last].value + fold + line).withoutBlanks
                    continue
                }
                leading += 1
                if mutation == .foldsEndValues || mutation == .joinsSecondLeadingLine && leading == 1 {
                    continue
                }
                if mutation == .joinsLeadingLineToReason {
                    reason += " " + line
                    continue
                }
                let joins = mutation == .joinsLeadingLine || mutation == .joinsSecondLeadingLine
                try demand(joins, "blanks before the first field")
            }
            fields.append(try field(line, keepsCR: keepsCR))
        }
    }

    private func field(_ line: String, keepsCR: Bool) throws(MutantFault) -> MutantField {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].isToken else { throw .refused("the name of a field is none") }
        let value = mutation == .keepsBlanks ? String(parts[1]) : parts[1].withoutBlanks
        var field = MutantField(String(parts[0]), value)
        if mutation == .trimsBeyondASCII { field.value = value.replacing("\u{C2}\u{A0}", with: "") }
        if mutation == .dropsControlsInFraming, framing.contains(field.key) {
            field.value.unicodeScalars.removeAll { $0 == "\r" || $0 == "\0" }
        }
        let isClean = !field.value.unicodeScalars.contains {
            $0 == "\r" && !keepsCR || $0 == "\0" && mutation != .keepsNUL
        }
        try demand(isClean, "CR or NUL in a value")
        return field
    }

    /// Whether the connection ends behind this response.
    private func ends(behind response: MutantResponse, to method: String) -> Bool {
        var options = response.fields.elements("connection")
        if mutation == .closeInLastField { options = options.suffix(1) }
        if response.version == "1.0", !options.contains("keep-alive") { return true }
        let ignored = ["ignoresClose", "ignoresClose\(response.status)", "ignoresClose\(method)"]
        let ignores =
            ignored.contains(mutation?.rawValue ?? "")
            || mutation == .ignoresCloseOfErrors && response.status >= 300
            || mutation == .ignoresCloseOfOtherMethods && method != "GET"
        return options.contains("close") && !ignores
    }

    private func readContent(of response: inout MutantResponse, to method: String) throws(MutantFault) {
        let isTunnel = method == "CONNECT" && (200..<300).contains(response.status)
        if isTunnel, mutation != .tunnelsHaveContent { return }
        let isBare = [204, 304].contains(response.status)
        let fields = response.fields
        var codings = fields.elements("transfer-encoding")
        takesLeftovers =
            switch mutation {
            case .takesLeftovers: true
            case .takesLeftoversOfHEAD: method == "HEAD"
            case .takesLeftoversOfNoContent: isBare
            case .takesLeftoversOfChunks: codings == ["chunked"]
            default: false
            }
        if ends(behind: response, to: method) { isOpen = false }
        let elements = fields.values("transfer-encoding").flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        let isEmpty = elements.contains { $0.withoutBlanks.isEmpty }
        try demand(mutation != .emptyElementsFail || !isEmpty, "an empty element")
        if isBare || method == "HEAD" && mutation != .headHasContent { return }
        if mutation == .skipsContent, response.status >= 300 { return }
        if mutation == .chunkedByEnd, codings.last?.hasSuffix("chunked") ?? false { codings = ["chunked"] }
        if mutation == .chunkedAnywhere, codings.contains("chunked") { codings = ["chunked"] }
        let lengths = fields.values("content-length").flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(\.withoutBlanks)
        }
        if !codings.isEmpty, mutation != .noChunks, mutation != .lengthWins || lengths.isEmpty {
            try loseFraming(unless: codings == ["chunked"], "a transfer coding that is not known")
            try demand(lengths.isEmpty || mutation == .keepsOldChunks, "two framings")
            if response.version == "1.0", mutation != .keepsOldChunks { isOpen = false }
            try readChunks(&response)
        } else if !lengths.isEmpty {
            try readContent(of: &response, lengths: lengths)
        } else {
            isOpen = false
            response.content = try rest()
        }
    }

    private func readContent(of response: inout MutantResponse, lengths: [String]) throws(MutantFault) {
        let chosen = mutation == .readsLastLength ? lengths[lengths.count - 1] : lengths[0]
        let readsOne = mutation == .readsFirstLength || mutation == .readsLastLength
        let isValid = lengths.allSatisfy { (readsOne || $0 == chosen) && $0.isDigits }
        if !isValid, mutation == .keepsBadLengths { return }
        try loseFraming(unless: isValid || mutation == .readsBadLengths, "an invalid length")
        let digits = chosen.filter { $0.isASCII && $0.isNumber }
        let length = mutation == .wrapsLengths ? digits.wrapped(radix: 10) : Int(digits)
        guard let length, length < 1 << 40 else { throw .refused("the length is too large") }
        response.content = try take(upTo: length)
        guard response.content.count < length else { return }
        isOpen = false
        response.isIncomplete = mutation == .storesIncomplete
        if mutation != .acceptsShort, !response.isIncomplete { throw .ended("the content is too short") }
    }

    /// Throws unless the framing of a response is valid. A mutant then drops what has come of it, to use the
    /// connection again.
    private func loseFraming(unless isValid: Bool, _ why: String) throws(MutantFault) {
        if isValid { return }
        outlivesFault = mutation == .reusesBadFraming
        if outlivesFault { _ = try take(upTo: buffer.count) }
        throw .refused(why)
    }

    private func readChunks(_ response: inout MutantResponse) throws(MutantFault) {
        do throws(MutantFault) {
            while case let size = try chunkSize(), size > 0 {
                let data = try take(upTo: size)
                response.content += data
                if data.count < size { throw .ended("the connection ended within a chunk") }
                try demand(try line().isEmpty, "no line end behind a chunk")
            }
            response.trailers = try fields(&response.reason, isTrailer: true)
        } catch .ended where mutation == .acceptsCutChunks {
            isOpen = false
            return
        }
        if mutation == .mergesTrailers { response.fields += response.trailers }
        guard mutation == .trailersReplaceFields || mutation == .trailersJoinFields else { return }
        for trailer in response.trailers {
            for index in response.fields.indices where response.fields[index].key == trailer.key {
                let old = mutation == .trailersJoinFields ? response.fields[index].value + ", " : ""
                response.fields[index].value = old + trailer.value
            }
        }
    }

    private func chunkSize() throws(MutantFault) -> Int {
        let line = try line()
        var digits = String(line.prefix { $0 != ";" })
        if digits != line {
            try demand(mutation != .noExtensions, "a chunk extension")
            let isClean = !line.unicodeScalars.contains { $0 == "\r" || $0 == "\0" }
            try demand(isClean, "a chunk extension")
            if mutation != .noBlanksBeforeExtensions { digits = digits.withoutBlanks }
        }
        try demand(!digits.isEmpty && digits.utf8.allSatisfy(\.isHexDigit), "the size of a chunk")
        let size = mutation == .wrapsChunkSizes ? digits.wrapped(radix: 16) : Int(digits, radix: 16)
        guard let size, size < 1 << 40 else { throw .refused("a chunk is too large") }
        return size
    }
}

extension StringProtocol {
    /// Without blanks at both ends.
    var withoutBlanks: String {
        let rest = drop { $0 == " " || $0 == "\t" }
        return rest.lastIndex { $0 != " " && $0 != "\t" }.map { String(rest[...$0]) } ?? ""
    }

    var isDigits: Bool { !isEmpty && utf8.allSatisfy(\.isDigit) }
    var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenByte) }
}

extension String {
    /// The number of these digits in 32 bits, as it overflows.
    fileprivate func wrapped(radix: Int) -> Int {
        Int(reduce(UInt32(0)) { $0 &* UInt32(radix) &+ UInt32($1.hexDigitValue ?? 0) })
    }
}
