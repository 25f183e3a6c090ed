internal import DirectCore
internal import DirectIO
internal import DirectTransport

extension StreamedBody {
    /// Returns a body with the content of a file, or with a part of it, read in pieces on the threads of its
    /// folder.
    ///
    /// The file is opened again for each attempt, so the body is replayable.
    static func file(_ path: String, range: Range<UInt64>? = nil) -> StreamedBody {
        let work = BlockingWork.forFile(path)
        return StreamedBody(
            isReplayable: true,
            endsAtOnce: true,
            filePath: range == nil ? path : nil,
            measure: { loop, end in
                try await work.run(until: end, on: loop) { () throws(SystemError) in
                    try FileReader(path).size(of: range)
                }
            },
            open: { loop in
                let file = try await work.run(on: loop) { () throws(SystemError) in
                    let file = try FileReader(path)
                    if let range { try file.skip(to: min(range.lowerBound, file.size)) }
                    return file
                }
                let size = file.size(of: range)
                // A whole file is read to its end, which shows whether it has grown.
                var left = range == nil ? UInt64.max : size
                let source = RequestBodySource {
                    let piece = try await work.run(on: loop) { [left] () throws(SystemError) in
                        try file.next(upTo: left)
                    }
                    left -= UInt64(piece.count)
                    return piece.isEmpty ? nil : piece
                }
                return source.giving(size)
            }
        )
    }
}

extension FileReader {
    /// The number of bytes that the file has in a range.
    fileprivate func size(of range: Range<UInt64>?) -> UInt64 {
        guard let part = range?.clamped(to: 0..<size) else { return size }
        return part.upperBound - part.lowerBound
    }
}
