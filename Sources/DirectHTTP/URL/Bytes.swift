extension [UInt8] {
    init(copying text: Span<UInt8>) {
        self = unsafe text.withUnsafeBufferPointer { unsafe Array($0) }
    }

    /// Lends the bytes. `Array.span` itself begins with macOS 26 and its siblings, the span of a slice long before.
    @inline(__always)
    package func withSpan<Value, Fault: Error>(
        _ body: (Span<UInt8>) throws(Fault) -> Value
    ) throws(Fault) -> Value {
        let whole = self[...]
        return try body(whole.span)
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
    guard let result else { return try Array(text.utf8).withSpan(body) }
    return try result.get()
}
