internal import DirectIO
internal import DirectTransport

extension ResolverError.Reason {
    /// Whether the failure is this side's: a full queue, no free descriptor, a refusal by vetting. Such a
    /// failure says nothing about a server or a resolver, so no other one is asked instead.
    package var isOurs: Bool {
        switch self {
        case .request(let error as HTTPError):
            switch error.reason {
            case .refused: true
            case .system(let error): error.isDescriptorShortage
            default: error.phase == .queue
            }
        case .other(let error as SystemError): error.isDescriptorShortage
        case .lookup(let error): error.isDescriptorShortage
        default: false
        }
    }
}

extension HTTPError {
    /// The same error without its URL and the requests before it: they show the URLs that were asked.
    package var withoutURLs: HTTPError {
        var error = self
        error.history = []
        (error.method, error.url) = (nil, nil)
        return error
    }
}
