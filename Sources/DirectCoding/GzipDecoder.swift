/// Decodes `gzip` (RFC 1952): one member after the other, each checked by its CRC and its length.
///
/// The last member may be followed by zeros, which pad tapes and blocks and which gzip(1) ignores as well.
/// Anything else after it is an error.
final class GzipDecoder: StreamDecoder {
    private enum Place {
        case inHeader
        case inMember
        case behindMember
        case inPadding
    }

    private let inflater: Inflater
    private var place = Place.inHeader
    private var check = MemberCheck()

    init() throws(CodingError) {
        inflater = try Inflater(.gzip, for: .gzip)
    }

    var isAtEnd: Bool { place == .behindMember || place == .inPadding }

    func decode(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        into room: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> DecodingProgress {
        var progress = DecodingProgress()
        while true {
            let rest = UnsafeRawBufferPointer(rebasing: input[progress.used...])
            switch place {
            case .inHeader:
                // Without a faster check, zlib reads the header and checks the member itself.
                guard MemberCheck.isFaster else {
                    place = .inMember
                    continue
                }
                let (used, isDone) = try inflater.readHeader(rest)
                progress.used += used
                guard isDone else { return progress }
                inflater.setChecking(false)
                check = MemberCheck()
                place = .inMember
            case .inMember:
                let free = UnsafeMutableRawBufferPointer(rebasing: room[progress.made...])
                let step = try inflater.inflate(rest, isLast: isLast, into: free)
                progress.used += step.progress.used
                progress.made += step.progress.made
                if MemberCheck.isFaster {
                    let made = UnsafeRawBufferPointer(rebasing: free[..<step.progress.made])
                    check.add(made, from: UnsafeRawBufferPointer(rebasing: rest[..<step.progress.used]))
                    if step.hasEnded { try check.finish() }
                }
                guard step.hasEnded else { return progress }
                place = .behindMember
            case .behindMember:
                switch rest.first {
                case nil: return progress
                case 0: place = .inPadding
                case 0x1F:
                    inflater.reset()
                    inflater.setChecking(true)
                    place = .inHeader
                default: throw .trailingBytes(.gzip)
                }
            case .inPadding:
                guard rest.allSatisfy({ $0 == 0 }) else { throw .trailingBytes(.gzip) }
                progress.used = input.count
                return progress
            }
        }
    }
}
