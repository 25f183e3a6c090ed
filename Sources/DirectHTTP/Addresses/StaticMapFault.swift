public import DirectIO

/// What is wrong with an entry of a static map.
@nonexhaustive
public enum StaticMapFault: Error, Hashable, Sendable {
    /// The fault lies in this line or element, counted from 1.
    indirect case line(Int, StaticMapFault)
    /// The host is wrong.
    case host(HostFault)
    /// The port is neither a number from 1 to 65535 nor `*`.
    case invalidPort
    /// An address is wrong.
    case address(AddressError)
    /// There is no address: a map never says "connect nowhere" or "resolve as usual" by silence.
    case noAddresses
    /// The text is not `host:port:address[,address]`, or `-host:port`.
    case notAnEntry
    /// The entry begins with `+`: it would time out in curl, and a static map does not.
    case timedEntry
    /// The file of that path cannot be read.
    case unreadable(String, SystemError)
    /// A line of a hosts file has an address and no name.
    case noNames
}

extension StaticMapFault: CustomStringConvertible {
    /// The fault in words.
    public var description: String {
        switch self {
        case .line(let number, let fault): "line \(number): \(fault)"
        case .host(let fault): fault.description
        case .invalidPort: "the port is neither a number from 1 to 65535 nor *"
        case .address(let fault): fault.description
        case .noAddresses: "the entry has no address"
        case .notAnEntry: "the entry is not host:port:address[,address]"
        case .timedEntry: "the entry begins with +, and entries of a static map do not time out"
        case .unreadable(let path, let error): "\(path): \(error)"
        case .noNames: "the line has an address and no name"
        }
    }
}
