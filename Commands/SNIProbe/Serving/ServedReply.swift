/// An answer of the responder of `--listen`, in text. Every answer ends its connection.
struct ServedReply: Error, Equatable {
    let status: Int
    let body: String

    init(_ status: Int, _ body: String) { (self.status, self.body) = (status, body) }

    /// Others have left the probe no time.
    static let noResult = ServedReply(503, "no result in time")

    /// The answer as bytes; to HEAD without the content (RFC 9110, section 9.3.2).
    func bytes(isHead: Bool) -> [UInt8] {
        let text = status == 200 ? body : "\(body)\n"
        let head =
            "HTTP/1.1 \(status) \(Self.reasons[status] ?? "Error")\r\n"
            + "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n"
            + (status == 405 ? "Allow: GET, HEAD\r\n" : "")
            + "Content-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n"
        return Array(((isHead ? "" : text).isEmpty ? head : head + text).utf8)
    }

    private static let reasons = [
        200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        408: "Request Timeout", 421: "Misdirected Request", 431: "Request Header Fields Too Large",
        503: "Service Unavailable", 505: "HTTP Version Not Supported",
    ]
}
