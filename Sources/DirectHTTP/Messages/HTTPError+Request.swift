internal import DirectCore
internal import DirectHTTP1

/// The method and the URL of a request, which errors of its response's body name. A class, so that a body
/// holds no more than a reference.
final class RequestLine: Sendable {
    let method: HTTPMethod
    let url: HTTPURL

    init(_ method: HTTPMethod, _ url: HTTPURL) {
        self.method = method
        self.url = url
    }
}

extension HTTPError {
    /// Returns the error with the method and the URL of its request, unless it has them already: the
    /// innermost layer that knows the request is right, because a call may make several.
    @inline(never)
    func about(_ method: HTTPMethod, _ url: HTTPURL?) -> HTTPError {
        guard self.method == nil else { return self }
        var error = self
        error.method = method.ifValid
        error.url = url?.redacted
        return error
    }

    /// Returns the error with the method and the URL of the request, unless it has them already.
    @inline(never)
    func about(_ request: Request) -> HTTPError {
        about(request.method, try? request.url)
    }

    /// Returns the error with the method and the URL of the request, unless it has them already.
    @inline(never)
    func about(_ line: RequestLine?) -> HTTPError {
        line.map { about($0.method, $0.url) } ?? self
    }
}

extension HTTPMethod {
    /// The method; `nil` if it is no token. A text that could be anything must not get into a log.
    package var ifValid: HTTPMethod? { HTTPMethod(validating: description) }
}
