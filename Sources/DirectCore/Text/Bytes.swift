extension [UInt8] {
    /// Copies the bytes of a span.
    package init(copying text: Span<UInt8>) {
        self = unsafe text.withUnsafeBufferPointer { unsafe Array($0) }
    }

    /// Calls `body` with a span of the bytes. It uses the span of a slice because `Array.span` itself
    /// requires macOS 26.
    @inline(__always)
    package func withSpan<Value, Fault: Error>(
        _ body: (Span<UInt8>) throws(Fault) -> Value
    ) throws(Fault) -> Value {
        let whole = self[...]
        return try body(whole.span)
    }
}

extension String {
    /// Decodes a copy of the bytes as UTF-8; invalid sequences become replacement characters.
    package init(copying text: Span<UInt8>) {
        self = unsafe text.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

/// Calls `body` with the UTF-8 bytes of a string. Unlike the standard library's `withUTF8`, it passes typed
/// errors on.
@inline(__always)
package func withUTF8Result<Value, Fault: Error>(
    of text: String,
    _ body: (Span<UInt8>) throws(Fault) -> Value
) throws(Fault) -> Value {
    var fault: Fault?
    let outcome = unsafe text.utf8.withContiguousStorageIfAvailable { bytes -> Value? in
        do throws(Fault) {
            return try body(unsafe Span(_unsafeElements: bytes))
        } catch {
            fault = error
            return nil
        }
    }
    if let fault { throw fault }
    // Only a string that is bridged from Objective-C has no contiguous UTF-8 storage.
    guard let outcome, let value = outcome else { return try Array(text.utf8).withSpan(body) }
    return value
}
