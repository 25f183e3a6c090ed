internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

extension Pipeline {
    /// Downloads a resource to a file, and continues an earlier download to the same path if there is one.
    func download(
        _ request: Request,
        to path: String,
        options: DownloadOptions,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> DownloadResult {
        let request = request.resolved(against: configuration.baseURL)
        do {
            return try await downloadParts(of: request, to: path, options: options, onProgress)
        } catch let error as HTTPError {
            throw error.about(request)
        }
    }

    private func downloadParts(
        of request: Request,
        to path: String,
        options: DownloadOptions,
        _ onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> DownloadResult {
        if Task.isCancelled { throw CancellationError() }
        let name = try request.checkedURL().host.description
        if let error = request.obstacleToDownload { throw HTTPError(.request, .download(error), name: name) }
        let loop = configuration.loop
        let limits = request.timeouts.over(configuration.timeouts, on: threads)
        var hop = HopRequest(request, Call(limits, from: loop.now))
        hop.repeatability = Repeatability()
        let wait = DiskWait(within: hop.call.limit, name: name, loop: loop)
        let disk = try await DownloadDisk(path, mode: options.mode, wait: wait)
        var isUseless = false
        do {
            try await disk.load()
            var download = Download(hop, options, to: disk, through: self, onProgress: onProgress)
            defer { isUseless = download.isUseless }
            let result = try await download.run()
            try await disk.commit()
            return result
        } catch {
            await disk.conclude { [isUseless] in $0.close(discarding: isUseless) }
            throw error
        }
    }
}

extension Request {
    /// The reason that the request cannot be downloaded in parts; `nil` if it can.
    fileprivate var obstacleToDownload: DownloadError? {
        if method != .get { return .method(method) }
        if !body.isNone { return .hasBody }
        return ["Range", "If-Range"].first(where: headers.contains).map { .field($0) }
    }
}
