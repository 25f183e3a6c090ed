internal import DirectTransport

extension RequestBody {
    /// A form, as `application/x-www-form-urlencoded`.
    public static func form(_ fields: [(name: String, value: String)]) -> RequestBody {
        RequestBody(.bytes(formEncoded(fields)), contentType: "application/x-www-form-urlencoded")
    }

    /// A form, as `application/x-www-form-urlencoded`.
    public static func form(_ fields: KeyValuePairs<String, String>) -> RequestBody {
        form(fields.map { (name: $0.key, value: $0.value) })
    }

    /// A form with files, as `multipart/form-data`.
    ///
    /// It is sent with a length if the length of each part is known, else in chunks. The boundary is random,
    /// so no part can be made to contain it.
    public static func multipart(_ parts: [FormPart]) -> RequestBody {
        let form = MultipartForm(parts)
        return RequestBody(.stream(form.body), contentType: form.contentType)
    }

    /// The content of a file, or a part of it, which is read while it is sent. If its length changes
    /// meanwhile, the request fails.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - range: The part, as far as the file has it when the request begins; `nil` for all of it.
    ///   - contentType: The value of `Content-Type`, unless the request has that field.
    public static func file(
        _ path: String,
        range: Range<UInt64>? = nil,
        contentType: String? = nil
    ) -> RequestBody {
        RequestBody(.stream(.file(path, range: range)), contentType: contentType)
    }
}
