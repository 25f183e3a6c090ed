#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Writes all bytes: at this offset of the file, or at its position.
func writeAll(_ bytes: [UInt8], to descriptor: Int32, at offset: UInt64?) throws(SystemError) {
    var written = 0
    while written < bytes.count {
        let (count, code) = bytes.withUnsafeBytes { all in
            retryingInterrupts {
                let (start, count) = (all.baseAddress?.advanced(by: written), all.count - written)
                guard let offset else { return write(descriptor, start, count) }
                return pwrite(descriptor, start, count, off_t(clamping: offset + UInt64(written)))
            }
        }
        guard count != -1 else { throw SystemError("write", code: code) }
        // No file system should accept nothing; one that does would be asked for ever.
        guard count > 0 else { throw SystemError("write", code: EIO) }
        written += count
    }
}

/// Returns `count` bytes from this offset of the file, or fewer at its end.
func readAll(_ count: Int, from descriptor: Int32, at offset: UInt64) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        guard let base = buffer.baseAddress else { return }
        while filled < count {
            let (result, code) = retryingInterrupts {
                pread(descriptor, base + filled, count - filled, off_t(clamping: offset + UInt64(filled)))
            }
            if result == -1 { failure = SystemError("read", code: code) }
            guard result > 0 else { return }
            filled += result
        }
    }
    if let failure { throw failure }
    return bytes
}
