public import DirectCore
public import DirectIO

/// The reason why an entry of a ``StaticMap`` is invalid.
@nonexhaustive
public enum StaticMapError: Error, Hashable, Sendable {
    /// The error is in this line or element, counted from 1.
    indirect case line(Int, StaticMapError)
    /// The host is invalid.
    case host(HTTPHostError)
    /// The port is neither a number from 1 to 65535 nor `*`.
    case invalidPort
    /// An address is invalid.
    case address(AddressError)
    /// The entry has no address. An empty list could be taken for "connect nowhere" or for "resolve as
    /// usual", so it is neither.
    case noAddresses
    /// The text is not `host:port:address[,address]`, or `-host:port`.
    case notAnEntry
    /// The entry begins with `+`. In curl such an entry times out; entries of a static map do not.
    case timedEntry
    /// The file at this path cannot be read.
    case unreadable(String, SystemError)
    /// A line of a hosts file has an address but no name.
    case noNames
}

extension StaticMapError: CustomStringConvertible {
    /// The error in words.
    public var description: String {
        switch self {
        case .line(let number, let fault): "line \(number): \(fault)"
        case .host(let fault): fault.description
        case .invalidPort: "the port is neither a number from 1 to 65535 nor *"
        case .address(let fault): fault.description
        case .noAddresses: "the entry has no address"
        case .notAnEntry: "the entry is not host:port:address[,address]"
        case .timedEntry: "the entry begins with +, but entries of a static map do not time out"
        case .unreadable(let path, let error): "\(path): \(error)"
        case .noNames: "the line has an address but no name"
        }
    }
}
