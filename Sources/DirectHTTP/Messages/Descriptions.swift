// Descriptions for printing, logging and `dump`. They name the target of a message and never show a header
// value, a byte of a body, or of a URL more than `HTTPURL.redacted`.

internal import DirectTransport

extension Request: CustomStringConvertible, CustomReflectable {
    /// The method and the URL.
    public var description: String {
        switch parsedURL {
        case .success(let url): "\(method) \(url.redacted)"
        case .failure: "\(method) without a URL"
        }
    }

    /// Shows no value that may be secret, in `dump` either.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["headers": "\(headers)", "body": "\(body)", "addresses": addresses as Any]
        )
    }
}

extension RequestBody: CustomStringConvertible, CustomReflectable {
    /// The number of bytes, if the body is in memory, and the content type.
    public var description: String {
        let type = contentType.map { ", \($0)" } ?? ""
        return switch content {
        case .none: "no body"
        case .bytes(let bytes): "\(bytes.count) bytes\(type)"
        case .stream: "a stream\(type)"
        }
    }

    /// Never shows the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Response: CustomStringConvertible, CustomReflectable {
    /// The status and the URL.
    public var description: String { "\(status) from \(url.redacted)" }

    /// Never shows header values or the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["headers": "\(headers)", "transaction": transaction as Any])
    }
}

extension BufferedResponse: CustomStringConvertible, CustomReflectable {
    /// The status, the URL and the length of the body.
    public var description: String { "\(status) from \(url.redacted), \(body.count) bytes" }

    /// Never shows header values or the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["headers": "\(headers)", "transaction": transaction as Any])
    }
}

extension ResponseBody: CustomReflectable {
    /// Never shows the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
