internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
public import DirectTransport

extension HTTPClient {
    /// Downloads a resource to a file. A download that breaks off goes on, in this call and in later ones.
    ///
    /// The content is written to `PATH.part`. When it is complete, verified and flushed to the disk, the file
    /// gets the name `path` and replaces a file that was there. If the connection breaks off, the rest is
    /// requested (`Range` with `If-Range`), at another address of the same name if there is one. That is done
    /// only if the server identified the version of the content without doubt, by a strong `ETag` or a
    /// `Last-Modified` date that is strong by RFC 9110, section 8.8.2.2; otherwise, and if the resource has
    /// changed, the download begins anew.
    ///
    /// If the call fails or is cancelled, or the process ends, `PATH.part` stays, and `PATH.part.info` beside
    /// it says what it is: its URL (without user and password), validator, length and digest. The next call
    /// for the same path continues it. Delete both files to discard it. If another program or user may have
    /// made what is under these names, it is left alone, and the download uses a file of its own: nothing can
    /// be continued then.
    ///
    /// If `path` is a symbolic link, the link stays and its target is replaced. A file that is replaced
    /// passes its owner and its permissions on. What is no regular file is an error.
    ///
    /// Failed attempts are repeated as the retry policy of the request or the client says, and by
    /// `RetryPolicy()` if there is none. Attempts that bring bytes do not count. ``Timeouts/total`` limits
    /// the whole download. The content is requested without content coding, and the client's cache takes no
    /// part. An observer sees each attempt as a call of its own.
    ///
    /// - Parameter request: A GET without a body, `Range` and `If-Range`.
    /// - Parameter path: The path of the file.
    /// - Parameter options: What the content must be.
    /// - Parameter onProgress: Called with the number of bytes that the file has so far. The number falls if
    ///   the download begins anew. It must not block.
    /// - Throws: ``HTTPError``, with ``HTTPError/Reason/download(_:)`` for what only a download can meet and
    ///   ``HTTPError/Reason/status(_:)`` for a status without content, or `CancellationError`.
    @concurrent
    @discardableResult
    public func download(
        _ request: Request,
        to path: String,
        options: DownloadOptions = DownloadOptions(),
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> DownloadResult {
        try await pipeline.download(request, to: path, options: options, onProgress: onProgress)
    }

    /// Downloads the resource at a URL to a file. See ``download(_:to:options:onProgress:)``.
    @concurrent
    @discardableResult
    public func download(
        _ url: String,
        to path: String,
        options: DownloadOptions = DownloadOptions(),
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> DownloadResult {
        try await download(Request(.get, url), to: path, options: options, onProgress: onProgress)
    }
}
