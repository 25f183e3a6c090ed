public import DirectCore
public import DirectHTTP1

/// The methods of HTTP for a URL as text. An invalid URL is an ``HTTPError``. A value that comes from
/// elsewhere belongs into an ``HTTPURL``, which keeps it in its place: `url.appending(path: "items", id)`.
extension HTTPClient {
    /// Gets the resource at a URL, with its whole body. See ``fetch(_:)``.
    public func get(_ url: String, headers: HTTPHeaders = [:]) async throws -> BufferedResponse {
        try await fetch(Request(.get, url, headers: headers))
    }

    /// Gets the header fields of the resource at a URL, without its body. See ``fetch(_:)``.
    public func head(_ url: String, headers: HTTPHeaders = [:]) async throws -> BufferedResponse {
        try await fetch(Request(.head, url, headers: headers))
    }

    /// Deletes the resource at a URL. See ``fetch(_:)``.
    public func delete(_ url: String, headers: HTTPHeaders = [:]) async throws -> BufferedResponse {
        try await fetch(Request(.delete, url, headers: headers))
    }

    /// Posts a body to a URL. Without a body it sends a length of zero. See ``fetch(_:)``.
    public func post(
        _ url: String,
        _ body: RequestBody = .none,
        headers: HTTPHeaders = [:]
    ) async throws -> BufferedResponse {
        try await fetch(Request(.post, url, headers: headers, body: body))
    }

    /// Puts a body to a URL, as the resource's new state. See ``fetch(_:)``.
    public func put(
        _ url: String,
        _ body: RequestBody,
        headers: HTTPHeaders = [:]
    ) async throws -> BufferedResponse {
        try await fetch(Request(.put, url, headers: headers, body: body))
    }

    /// Changes the resource at a URL by the patch in the body. See ``fetch(_:)``.
    public func patch(
        _ url: String,
        _ body: RequestBody,
        headers: HTTPHeaders = [:]
    ) async throws -> BufferedResponse {
        try await fetch(Request(.patch, url, headers: headers, body: body))
    }
}

/// The methods of HTTP for a URL that has been parsed or built.
extension HTTPClient {
    /// Gets the resource at a URL, with its whole body. See ``fetch(_:)``.
    public func get(_ url: HTTPURL, headers: HTTPHeaders = [:]) async throws -> BufferedResponse {
        try await fetch(Request(.get, url, headers: headers))
    }

    /// Gets the header fields of the resource at a URL, without its body. See ``fetch(_:)``.
    public func head(_ url: HTTPURL, headers: HTTPHeaders = [:]) async throws -> BufferedResponse {
        try await fetch(Request(.head, url, headers: headers))
    }

    /// Deletes the resource at a URL. See ``fetch(_:)``.
    public func delete(_ url: HTTPURL, headers: HTTPHeaders = [:]) async throws -> BufferedResponse {
        try await fetch(Request(.delete, url, headers: headers))
    }

    /// Posts a body to a URL. Without a body it sends a length of zero. See ``fetch(_:)``.
    public func post(
        _ url: HTTPURL,
        _ body: RequestBody = .none,
        headers: HTTPHeaders = [:]
    ) async throws -> BufferedResponse {
        try await fetch(Request(.post, url, headers: headers, body: body))
    }

    /// Puts a body to a URL, as the resource's new state. See ``fetch(_:)``.
    public func put(
        _ url: HTTPURL,
        _ body: RequestBody,
        headers: HTTPHeaders = [:]
    ) async throws -> BufferedResponse {
        try await fetch(Request(.put, url, headers: headers, body: body))
    }

    /// Changes the resource at a URL by the patch in the body. See ``fetch(_:)``.
    public func patch(
        _ url: HTTPURL,
        _ body: RequestBody,
        headers: HTTPHeaders = [:]
    ) async throws -> BufferedResponse {
        try await fetch(Request(.patch, url, headers: headers, body: body))
    }
}
