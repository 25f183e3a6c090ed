/// Bytes of a name and a value.
typealias MutantField = (name: [UInt8], value: [UInt8])

/// A response as the mutant client has read it.
struct MutantResponse {
    var version: [UInt8] = []
    var status = 0
    var reason: [UInt8] = []
    var fields: [MutantField] = []
    var trailers: [MutantField] = []
    var interims: [UInt16] = []
    var content: [UInt8] = []
    /// What a cache did for it.
    var use: String?
    /// Whether some of it is missing.
    var isIncomplete = false

    func values(_ name: String) -> [[UInt8]] { fields.values(name) }

    /// The elements of fields that are lists, in lower case and without the empty ones.
    func elements(_ name: String) -> [String] { fields.elements(name) }
}

extension [MutantField] {
    func values(_ name: String) -> [[UInt8]] {
        filter { $0.name.latin1.lowercased() == name }.map(\.value)
    }

    func elements(_ name: String) -> [String] {
        values(name).flatMap { $0.split(separator: UInt8(ascii: ",")) }
            .map { $0.trimmed.latin1.lowercased() }.filter { !$0.isEmpty }
    }

    func has(_ name: String) -> Bool { !values(name).isEmpty }
}

extension MutantStream {
    /// Reads a response to a request with this method.
    func response(to method: String, mutation: Mutation?) throws(MutantFault) -> MutantResponse {
        var interims: [UInt16] = []
        while true {
            var response = try head(mutation)
            if mutation == .unknownStatusFails, (104..<200).contains(response.status) {
                throw .refused("an unknown status")
            }
            if let hundreds = mutation?.unknownClass, response.status / 100 == hundreds,
                response.status % 100 > 90
            {
                throw .refused("an unknown status")
            }
            let isInterim = (100..<200).contains(response.status) && response.status != 101
            if isInterim, mutation != .interimsAreFinal, mutation != .oneInterim || interims.isEmpty {
                guard interims.count < 100 else { throw .refused("too many interim responses") }
                interims.append(UInt16(response.status))
                continue
            }
            response.interims = interims
            try readContent(of: &response, method: method, mutation)
            return response
        }
    }

    private func head(_ mutation: Mutation?) throws(MutantFault) -> MutantResponse {
        var response = MutantResponse()
        let line = try line()
        let words = line.split(separator: 32, maxSplits: 2, omittingEmptySubsequences: false).map(Array.init)
        guard words.count >= 2, words[0].count == 8, words[0].starts(with: "HTTP/1.".utf8),
            words[0][7].isDigit, words[1].count == 3, words[1].allSatisfy(\.isDigit),
            let status = Int(words[1].latin1), status >= 100, !line.contains(0),
            !line.contains(13) || mutation == .keepsCRInReason
        else { throw .refused("the status line is none") }
        response.version = Array(words[0].dropFirst(5))
        response.status = status
        response.reason = words.count > 2 ? words[2] : []
        response.fields = try fields(mutation, &response.reason)
        if mutation == .largeRangesFail,
            response.values("content-range").contains(where: { range in
                range.split { !$0.isDigit }.contains { Int($0.latin1) == nil }
            })
        {
            throw .refused("a range that is too large")
        }
        return response
    }

    private func trailers(_ mutation: Mutation?) throws(MutantFault) -> [MutantField] {
        var reason: [UInt8] = []
        return try fields(
            mutation == .keepsCRInTrailers ? .keepsCR : mutation == .keepsCR ? nil : mutation,
            &reason
        )
    }

    /// Reads field lines up to the empty one.
    private func fields(_ mutation: Mutation?, _ reason: inout [UInt8]) throws(MutantFault) -> [MutantField] {
        var fields: [MutantField] = []
        var leading = 0
        while true {
            var line = try line()
            if line.isEmpty { return fields }
            guard fields.count < 1000 else { throw .refused("too many fields") }
            if line[0] == 32 || line[0] == 9 {
                guard mutation != .foldsEndValues else { continue }
                let framing = ["content-length", "transfer-encoding"]
                if mutation == .foldsEndFraming, let last = fields.last,
                    framing.contains(last.name.latin1.lowercased())
                {
                    continue
                }
                if fields.isEmpty {
                    leading += 1
                    if mutation == .joinsSecondLeadingLine, leading == 1 { continue }
                    if mutation == .joinsLeadingLineToReason {
                        reason += [32] + line[...].trimmed
                        continue
                    }
                    guard mutation == .joinsLeadingLine || mutation == .joinsSecondLeadingLine else {
                        throw .refused("blanks before the first field")
                    }
                    line = Array(line[...].trimmed)
                } else {
                    let fold: [UInt8] = mutation == .keepsFolds ? [13, 10, 32] : [32]
                    let last = fields.count - 1
                    fields[last].value = Array((fields[last].value + fold + line[...].trimmed)[...].trimmed)
                    continue
                }
            }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
                line[..<colon].allSatisfy(\.isTokenByte)
            else { throw .refused("the name of a field is none") }
            var value = Array(line[(colon + 1)...])
            if mutation != .keepsBlanks { value = Array(value[...].trimmed) }
            if mutation == .trimsBeyondASCII { value = value.withoutWideBlanks }
            let framing = ["content-length", "transfer-encoding"]
            if mutation == .dropsControlsInFraming, framing.contains(line[..<colon].latin1.lowercased()) {
                value.removeAll { $0 == 13 || $0 == 0 }
            }
            let isClean = !value.contains {
                $0 == 13 && mutation != .keepsCR || $0 == 0 && mutation != .keepsNUL
            }
            guard isClean else { throw .refused("CR or NUL in a value") }
            fields.append((Array(line[..<colon]), value))
        }
    }

    private func readContent(
        of response: inout MutantResponse,
        method: String,
        _ mutation: Mutation?
    ) throws(MutantFault) {
        let isTunnel = method == "CONNECT" && (200..<300).contains(response.status)
        if isTunnel, mutation != .tunnelsHaveContent { return }
        let hasNone = method == "HEAD" && mutation != .headHasContent || [204, 304].contains(response.status)
        takesLeftovers =
            switch mutation {
            case .takesLeftovers: true
            case .takesLeftoversOfHEAD: method == "HEAD"
            case .takesLeftoversOfNoContent: [204, 304].contains(response.status)
            case .takesLeftoversOfChunks: response.elements("transfer-encoding") == ["chunked"]
            default: false
            }
        var options = response.elements("connection")
        if mutation == .elementsStartAtComma {
            options = response.values("connection").map { $0.latin1.lowercased() }
        }
        if mutation == .closeInLastField {
            options = response.values("connection").suffix(1).map { $0.latin1.lowercased() }
        }
        let own = mutation?.rawValue
        let ignoresClose =
            own == "ignoresClose\(response.status)" || own == "ignoresClose\(method)"
            || mutation == .ignoresClose || mutation == .ignoresCloseOfErrors && response.status >= 300
            || mutation == .ignoresCloseOfOtherMethods && method != "GET"
        if !ignoresClose, options.contains("close") { isOpen = false }
        if response.version == Array("1.0".utf8), !options.contains("keep-alive") { isOpen = false }
        if hasNone || mutation == .skipsContent && response.status >= 300 { return }
        var codings = response.elements("transfer-encoding")
        if mutation == .chunkedByEnd, codings.last?.hasSuffix("chunked") ?? false { codings = ["chunked"] }
        if mutation == .chunkedAnywhere, codings.contains("chunked") { codings = ["chunked"] }
        if mutation == .elementsStartAtComma {
            codings = response.values("transfer-encoding").map { $0.latin1.lowercased() }
        }
        let lengths = response.values("content-length").flatMap {
            $0.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
                [UInt8]($0.trimmed)
            }
        }
        if !codings.isEmpty, mutation != .noChunks, mutation != .lengthWins || lengths.isEmpty {
            guard codings == ["chunked"] else {
                try loseFraming(mutation)
                throw .refused("a transfer coding that is not known")
            }
            guard lengths.isEmpty || mutation == .keepsOldChunks else { throw .refused("two framings") }
            if response.version == Array("1.0".utf8), mutation != .keepsOldChunks { isOpen = false }
            (response.content, response.trailers) = try chunks(mutation)
            response.mergeTrailers(mutation)
        } else if let first = mutation == .readsLastLength ? lengths.last : lengths.first {
            let readsOne = mutation == .readsFirstLength || mutation == .readsLastLength
            let isValid = lengths.allSatisfy {
                (readsOne || $0 == first) && !$0.isEmpty && $0.allSatisfy(\.isDigit)
            }
            if !isValid, mutation == .keepsBadLengths { return }
            guard isValid || mutation == .readsBadLengths else {
                try loseFraming(mutation)
                throw .refused("an invalid length")
            }
            let digits = first.filter { $0.isDigit }.latin1
            let length = mutation == .wrapsLengths ? digits.wrapped(radix: 10) : Int(digits)
            guard let length, length < 1 << 40 else { throw .refused("the length is too large") }
            response.content = try take(upTo: length)
            if response.content.count < length {
                isOpen = false
                response.isIncomplete = mutation == .storesIncomplete
                guard mutation == .acceptsShort || response.isIncomplete else {
                    throw .ended("the content is too short")
                }
            }
        } else {
            isOpen = false
            response.content = try rest()
        }
    }

    /// Drops what has come of a response without a valid framing, to use the connection again.
    private func loseFraming(_ mutation: Mutation?) throws(MutantFault) {
        guard mutation == .reusesBadFraming else { return }
        _ = try take(upTo: buffer.count)
        outlivesFault = true
    }

    private func chunks(_ mutation: Mutation?) throws(MutantFault) -> ([UInt8], [MutantField]) {
        var content: [UInt8] = []
        do throws(MutantFault) {
            while true {
                let size = try chunkSize(mutation)
                guard size > 0 else { return (content, try trailers(mutation)) }
                let data = try take(upTo: size)
                content += data
                guard data.count == size else {
                    throw MutantFault.ended("the connection ended within a chunk")
                }
                guard try line().isEmpty else { throw MutantFault.refused("no line end behind a chunk") }
            }
        } catch .ended where mutation == .acceptsCutChunks {
            isOpen = false
            return (content, [])
        }
    }

    private func chunkSize(_ mutation: Mutation?) throws(MutantFault) -> Int {
        let line = try line()
        let end = line.firstIndex(of: UInt8(ascii: ";")) ?? line.count
        var digits = line[..<end]
        if end < line.count, mutation != .noBlanksBeforeExtensions { digits = digits.trimmed }
        guard !digits.isEmpty, digits.allSatisfy(\.isHexDigit) else { throw .refused("the size of a chunk") }
        if end < line.count {
            if mutation == .noExtensions { throw .refused("a chunk extension") }
            if mutation == .noQuotedPairs, line.contains(UInt8(ascii: "\\")) { throw .refused("a backslash") }
            guard !line.contains(13), !line.contains(0) else { throw .refused("a chunk extension") }
        }
        let text = Array(digits).latin1
        let size = mutation == .wrapsChunkSizes ? text.wrapped(radix: 16) : Int(text, radix: 16)
        guard let size, size < 1 << 40 else { throw .refused("a chunk is too large") }
        return size
    }
}

extension MutantResponse {
    fileprivate mutating func mergeTrailers(_ mutation: Mutation?) {
        if mutation == .mergesTrailers { fields += trailers }
        guard mutation == .trailersReplaceFields || mutation == .trailersJoinFields else { return }
        for trailer in trailers {
            for index in fields.indices
            where fields[index].name.latin1.lowercased() == trailer.name.latin1.lowercased() {
                let old = mutation == .trailersJoinFields ? fields[index].value + Array(", ".utf8) : []
                fields[index].value = old + trailer.value
            }
        }
    }
}

extension Mutation {
    /// The class whose unknown statuses are faults.
    fileprivate var unknownClass: Int? {
        switch self {
        case .unknown2xxFails: 2
        case .unknown3xxFails: 3
        case .unknown4xxFails: 4
        case .unknown5xxFails: 5
        default: nil
        }
    }
}

extension [UInt8] {
    /// Without no-break spaces in UTF-8 at both ends.
    fileprivate var withoutWideBlanks: [UInt8] {
        var rest = self[...]
        while rest.starts(with: [0xC2, 0xA0]) { rest = rest.dropFirst(2) }
        while rest.suffix(2).elementsEqual([0xC2, 0xA0]) { rest = rest.dropLast(2) }
        return Array(rest)
    }
}

extension ArraySlice<UInt8> {
    var latin1: String { Array(self).latin1 }

    /// Without blanks at both ends.
    var trimmed: ArraySlice<UInt8> {
        var rest = self
        while let first = rest.first, first == 32 || first == 9 { rest.removeFirst() }
        while let last = rest.last, last == 32 || last == 9 { rest.removeLast() }
        return rest
    }
}

extension String {
    /// The number of these digits in 32 bits, as it overflows.
    fileprivate func wrapped(radix: Int) -> Int {
        Int(reduce(UInt32(0)) { $0 &* UInt32(radix) &+ UInt32($1.hexDigitValue ?? 0) })
    }
}

extension UInt8 {
    var isDigit: Bool { (0x30...0x39).contains(self) }
    var isHexDigit: Bool { isDigit || (0x41...0x46).contains(self & 0xDF) }
    var isTokenByte: Bool {
        isDigit || (0x41...0x5A).contains(self & 0xDF) || Array("!#$%&'*+-.^_`|~".utf8).contains(self)
    }
}
