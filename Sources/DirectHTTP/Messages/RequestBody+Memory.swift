extension RequestBody {
    /// The bytes; `nil` if they would have to be read from a source first.
    package var bytesInMemory: [UInt8]? {
        switch content {
        case .none: []
        case .bytes(let bytes): bytes
        default: nil
        }
    }
}
