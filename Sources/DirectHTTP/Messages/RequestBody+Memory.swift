extension RequestBody {
    /// The bytes, unless they would have to be read from somewhere first.
    package var bytesInMemory: [UInt8]? {
        switch content {
        case .none: []
        case .bytes(let bytes): bytes
        default: nil
        }
    }
}
