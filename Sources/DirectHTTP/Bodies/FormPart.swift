/// One part of a `multipart/form-data` body: a named field or file.
public struct FormPart: Sendable {
    /// The name of the form's field.
    public let name: String
    /// What the file is called at the sender; nothing for a plain field.
    public let fileName: String?
    /// The part's own `Content-Type`, if it is to say one.
    public let contentType: String?
    /// What it carries. Trailers of it are not sent.
    public let body: RequestBody

    /// A part; its content type is the body's, unless one is given.
    public init(_ name: String, fileName: String? = nil, contentType: String? = nil, body: RequestBody) {
        self.name = name
        self.fileName = fileName
        self.contentType = contentType ?? body.contentType
        self.body = body
    }

    /// A plain field.
    public static func field(_ name: String, _ value: String) -> FormPart {
        FormPart(name, body: .text(value, contentType: nil))
    }

    /// A file, under the last part of its path unless another name is given.
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

/// Why a body cannot be sent.
@nonexhaustive
public enum RequestBodyFault: Error, Hashable, Sendable {
    /// The name of the part at that place, counted from 0, has a control character or is empty.
    case invalidPartName(part: Int)
    /// The file name of the part has a control character.
    case invalidFileName(part: Int)
    /// The content type of the part is none.
    case invalidPartContentType(part: Int)
    /// The parts together are longer than any number says.
    case tooLong
    /// The body, or a part of it, can be sent once, and has been: make a new one for each request, or one that is
    /// `replayable`.
    case alreadySent
}

extension RequestBodyFault: CustomStringConvertible {
    /// The fault in words, without the text that has it.
    public var description: String {
        switch self {
        case .invalidPartName(let part): "the name of part \(part) is empty or has a control character"
        case .invalidFileName(let part): "the file name of part \(part) has a control character"
        case .invalidPartContentType(let part): "the content type of part \(part) is malformed"
        case .tooLong: "the body is too long"
        case .alreadySent: "the body, or a part of it, can be sent once, and has been"
        }
    }
}
