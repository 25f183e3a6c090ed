/// One part of a `multipart/form-data` body: a named field or file.
public struct FormPart: Sendable {
    /// The name of the form field.
    public let name: String
    /// The file name to send; `nil` for a plain field.
    public let fileName: String?
    /// The part's `Content-Type`; `nil` to send none.
    public let contentType: String?
    /// The part's content. Its trailers are not sent.
    public let body: RequestBody

    /// Creates a part.
    ///
    /// - Parameter name: The name of the form field.
    /// - Parameter fileName: The file name to send; `nil` for a plain field.
    /// - Parameter contentType: The part's content type; `nil` for that of `body`, if it has one.
    /// - Parameter body: The part's content.
    public init(_ name: String, fileName: String? = nil, contentType: String? = nil, body: RequestBody) {
        self.name = name
        self.fileName = fileName
        self.contentType = contentType ?? body.contentType
        self.body = body
    }

    /// Creates a plain text field.
    public static func field(_ name: String, _ value: String) -> FormPart {
        FormPart(name, body: .text(value, contentType: nil))
    }

    /// Creates a part with the content of a file.
    ///
    /// - Parameter name: The name of the form field.
    /// - Parameter path: The path of the file.
    /// - Parameter fileName: The file name to send; `nil` for the last component of `path`.
    /// - Parameter contentType: The part's content type.
    public static func file(
        _ name: String,
        path: String,
        fileName: String? = nil,
        contentType: String = "application/octet-stream"
    ) -> FormPart {
        let last = path.split(separator: "/").last.map(String.init)
        return FormPart(name, fileName: fileName ?? last ?? "", contentType: contentType, body: .file(path))
    }
}

extension FormPart: CustomStringConvertible {
    /// The name of the field, and the description of its body.
    public var description: String { "\(name): \(body)" }
}
