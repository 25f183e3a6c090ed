internal import DirectCore
public import DirectHTTP
internal import DirectIO
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension HTTPClient {
    /// Makes a class for `URLSessionConfiguration.protocolClasses` whose requests this client sends.
    ///
    /// Each call makes another class, which keeps the client for as long as the process lives: make one for
    /// each client, not one for each session.
    ///
    /// - Parameter hosts: The hosts whose requests the client sends; `nil` for all hosts. On Linux the first
    ///   request of a task decides, and its redirects stay with who has sent it.
    /// - Parameter schemes: The schemes whose requests the client sends.
    public func urlProtocolClass(
        hosts: [HostPattern]? = nil,
        schemes: Set<HTTPURL.Scheme> = [.http, .https]
    ) -> DirectURLProtocol.Type {
        BoundProtocols.make(URLProtocolBinding(self, hosts: hosts, schemes: schemes))
    }
}

/// The classes that were made at run time.
///
/// A session creates the objects of a `URLProtocol` itself and does not tell them its configuration: only the
/// class distinguishes the bindings. Without Objective-C no class can be allocated at run time, but Swift
/// makes a new one for each new argument of a generic class. Here the argument is a number in binary
/// notation, written as a type.
enum BoundProtocols {
    private static let bindings = Locked<[ObjectIdentifier: URLProtocolBinding]>([:])

    /// Makes a class for a binding.
    static func make(_ binding: URLProtocolBinding) -> DirectURLProtocol.Type {
        bindings.withLock { bindings in
            let made = numbered(bindings.count)
            bindings[ObjectIdentifier(made)] = binding
            return made
        }
    }

    /// Returns the binding of a class that was made here.
    static func binding(of made: DirectURLProtocol.Type) -> URLProtocolBinding? {
        bindings.withLock { $0[ObjectIdentifier(made)] }
    }

    private static func numbered(_ number: Int) -> DirectURLProtocol.Type {
        func digits<Number>(_ rest: Int, _: Number.Type) -> DirectURLProtocol.Type {
            guard rest > 0 else { return BoundURLProtocol<Number>.self }
            return rest.isMultiple(of: 2)
                ? digits(rest / 2, BinaryZero<Number>.self) : digits(rest / 2, BinaryOne<Number>.self)
        }
        return digits(number, Void.self)
    }
}

/// A class for each type argument.
private final class BoundURLProtocol<Number>: DirectURLProtocol {
    override class var binding: URLProtocolBinding {
        BoundProtocols.binding(of: self) ?? super.binding
    }
}

/// The binary digit 0 after the digits of `Rest`.
private enum BinaryZero<Rest> {}
/// The binary digit 1 after the digits of `Rest`.
private enum BinaryOne<Rest> {}
