public import DirectTransport

extension ReceivedResponse {
    /// The part of the body that was kept as text, as ``HTTPClient/BufferedResponse/text`` of a whole
    /// response.
    public var text: String? { try? decodedText() }

    /// Returns the part of the body that was kept as text. See
    /// ``HTTPClient/BufferedResponse/decodedText(fallback:)``.
    ///
    /// - Parameter fallback: The encoding if neither a byte order mark nor `Content-Type` says one.
    /// - Throws: ``HTTPError/Reason/unsupportedCharset(_:)`` if `Content-Type` says another one.
    public func decodedText(fallback: Charset = .utf8) throws(HTTPError) -> String {
        try headers.text(of: body, fallback: fallback)
    }
}
