internal import DirectIO

extension StreamedBody {
    /// The content of a file, read piece by piece on threads that may block.
    static func file(_ path: String) -> StreamedBody {
        StreamedBody(
            isReplayable: true,
            endsAtOnce: true,
            measure: { loop, end in
                try await BlockingWork.shared.run(until: end, on: loop) { () throws(SystemError) in
                    try FileReader(path).size
                }
            },
            open: { loop in
                let file = try await BlockingWork.shared.run(on: loop) { () throws(SystemError) in
                    try FileReader(path)
                }
                return BodySource {
                    let piece = try await BlockingWork.shared.run(on: loop) { () throws(SystemError) in
                        try file.next()
                    }
                    return piece.isEmpty ? nil : piece
                }
            }
        )
    }
}
