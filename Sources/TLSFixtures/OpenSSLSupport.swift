internal import CDirectOpenSSL

/// OpenSSL's text for an error code, by default for the oldest error in this thread's queue.
func openSSLText(_ code: UInt = ERR_peek_error()) -> String {
    guard code != 0 else { return "no reason given" }
    var text = [CChar](repeating: 0, count: 256)
    ERR_error_string_n(code, &text, text.count)
    return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
}

/// Returns an error for an operation that has just failed on this thread, and empties the error queue.
func openSSLError(_ operation: String) -> FixtureError {
    defer { ERR_clear_error() }
    return .openSSL(operation, openSSLText())
}

/// Returns the result of one of OpenSSL's i2d functions.
func derBytes(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
    let length = encode(nil)
    guard length > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
        var cursor = buffer.baseAddress
        count = Int(max(0, encode(&cursor)))
    }
}

/// Returns a distinguished name as text, for example "CN=a.test,O=Fixtures".
func text(ofName name: OpaquePointer?) -> String {
    withMemoryBIO { X509_NAME_print_ex($0, name, 0, fixture_XN_FLAG_RFC2253()) }
}

/// Returns the text that `body` writes to a memory BIO.
func withMemoryBIO(_ body: (OpaquePointer) -> some Any) -> String {
    direct_start_OpenSSL()
    guard let bio = BIO_new(BIO_s_mem()) else { return "" }
    defer { BIO_free(bio) }
    _ = body(bio)
    var bytes: UnsafeMutablePointer<CChar>?
    let count = fixture_BIO_contents(bio, &bytes)
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: max(0, count)), as: UTF8.self)
}

/// Calls `body` with a memory BIO that contains the text.
func withMemoryBIO(reading text: [UInt8], _ body: (OpaquePointer) -> Void) {
    direct_start_OpenSSL()
    text.withUnsafeBytes { bytes in
        guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return }
        defer { BIO_free(bio) }
        body(bio)
    }
}
