// What is shown of messages to those who print, log or `dump` them: whom they are for, and no header value, no
// byte of a body, no user and password.

extension Request: CustomStringConvertible, CustomReflectable {
    /// Method and URL.
    public var description: String {
        switch target {
        case .success(let url): "\(method) \(url)"
        case .failure: "\(method) without a URL"
        }
    }

    /// Shows no value that may be secret, not to `dump` either.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["headers": "\(headers)", "body": "\(body)", "addresses": addresses as Any]
        )
    }
}

extension RequestBody: CustomStringConvertible, CustomReflectable {
    /// How much it is, if that lies in memory, and what is said of its type.
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

extension FormPart: CustomStringConvertible {
    /// The field's name, and how much it carries.
    public var description: String { "\(name): \(body)" }
}

extension Response: CustomStringConvertible, CustomReflectable {
    /// The status, and whose it is.
    public var description: String { "\(status) from \(url)" }

    /// Never shows the values of fields, nor the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["headers": "\(headers)", "transaction": transaction as Any])
    }
}

extension FullResponse: CustomStringConvertible, CustomReflectable {
    /// The status, whose it is, and how long the body.
    public var description: String { "\(status) from \(url), \(body.count) bytes" }

    /// Never shows the values of fields, nor the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["headers": "\(headers)", "transaction": transaction as Any])
    }
}

extension ResponseBody: CustomReflectable {
    /// Never shows the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
