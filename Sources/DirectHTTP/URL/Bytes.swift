extension [UInt8] {
    init(copying text: Span<UInt8>) {
        self = unsafe text.withUnsafeBufferPointer { unsafe Array($0) }
    }
}

extension String {
    init(copying text: Span<UInt8>) {
        self = unsafe text.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

/// Lends the bytes of a string and passes on a typed error, which the standard library's own way does not.
@inline(__always)
func withUTF8Result<Value, Fault: Error>(
    of text: String,
    _ body: (Span<UInt8>) throws(Fault) -> Value
) throws(Fault) -> Value {
    let result = unsafe text.utf8.withContiguousStorageIfAvailable { bytes -> Result<Value, Fault> in
        do throws(Fault) {
            return .success(try body(unsafe Span(_unsafeElements: bytes)))
        } catch {
            return .failure(error)
        }
    }
    // Only a string bridged from Objective-C has its bytes elsewhere.
    guard let result else { return try body(Array(text.utf8).span) }
    return try result.get()
}
