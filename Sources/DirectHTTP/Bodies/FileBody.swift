internal import DirectCore
internal import DirectIO
internal import DirectTransport

extension StreamedBody {
    /// Returns a body with the content of a file, read in pieces on the threads of its folder.
    ///
    /// The file is opened again for each attempt, so the body is replayable.
    static func file(_ path: String) -> StreamedBody {
        let work = BlockingWork.forFile(path)
        return StreamedBody(
            isReplayable: true,
            endsAtOnce: true,
            filePath: path,
            measure: { loop, end in
                try await work.run(until: end, on: loop) { () throws(SystemError) in
                    try FileReader(path).size
                }
            },
            open: { loop in
                let file = try await work.run(on: loop) { () throws(SystemError) in
                    try FileReader(path)
                }
                let source = RequestBodySource {
                    let piece = try await work.run(on: loop) { () throws(SystemError) in
                        try file.next()
                    }
                    return piece.isEmpty ? nil : piece
                }
                return source.giving(file.size)
            }
        )
    }
}
