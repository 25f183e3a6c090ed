internal import Glibc

extension String {
    /// Whether the bytes of the secret stand somewhere in the text.
    ///
    /// Compares bytes. The standard library compares characters, which took a twelfth of a world's time.
    func reveals(_ secret: String) -> Bool {
        var (text, secret) = (self, secret)
        return text.withUTF8 { text in
            secret.withUTF8 { secret in
                guard let bytes = text.baseAddress, let wanted = secret.baseAddress, let first = secret.first
                else { return false }
                var start = 0
                while start + secret.count <= text.count {
                    let rest = text.count - secret.count + 1 - start
                    guard let found = memchr(bytes + start, Int32(first), rest) else { return false }
                    if memcmp(found, wanted, secret.count) == 0 { return true }
                    start = UnsafeRawPointer(found) - UnsafeRawPointer(bytes) + 1
                }
                return false
            }
        }
    }
}
