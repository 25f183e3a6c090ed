/// Undoes `gzip` (RFC 1952): one member after the other, each checked by its CRC and its length.
///
/// Behind the last member there may be zeros, with which tapes and blocks are filled up and which gzip(1)
/// overlooks as well; anything else is an error.
final class GzipDecoder: StreamDecoder {
    private enum Place {
        case inMember
        case behindMember
        case inPadding
    }

    private let inflater: Inflater
    private var place = Place.inMember

    init() throws(CodingError) {
        inflater = try Inflater(.gzip, for: .gzip)
    }

    var isAtEnd: Bool { place != .inMember }

    func decode(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        into room: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> DecodingProgress {
        var progress = DecodingProgress()
        while true {
            let rest = UnsafeRawBufferPointer(rebasing: input[progress.used...])
            switch place {
            case .inMember:
                let free = UnsafeMutableRawBufferPointer(rebasing: room[progress.made...])
                let step = try inflater.inflate(rest, isLast: isLast, into: free)
                progress.used += step.progress.used
                progress.made += step.progress.made
                guard step.hasEnded else { return progress }
                place = .behindMember
            case .behindMember:
                switch rest.first {
                case nil: return progress
                case 0: place = .inPadding
                case 0x1F:
                    inflater.reset()
                    place = .inMember
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
