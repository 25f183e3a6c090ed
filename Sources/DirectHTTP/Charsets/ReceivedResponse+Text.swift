public import DirectTransport

extension ReceivedResponse {
    /// The part of the body that was kept as text, as ``HTTPClient/BufferedResponse/text`` of a whole
    /// response.
    public var text: String? { try? decodedText() }

    /// Returns the part of the body that was kept as text. See
    /// ``HTTPClient/BufferedResponse/decodedText(fallback:)``.
    ///
    /// - Parameter fallback: The encoding if neither a byte order mark nor `Content-Type` says one.
    /// - Throws: ``CharsetError/unsupported(label:)``, with the label of the charset.
    public func decodedText(fallback: Charset = .utf8) throws(CharsetError) -> String {
        try headers.text(of: body, fallback: fallback)
    }
}
