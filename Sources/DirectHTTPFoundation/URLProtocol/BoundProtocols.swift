public import DirectHTTP
internal import DirectIO

#if canImport(FoundationNetworking)
internal import Foundation
internal import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPClient {
    /// A class for `URLSessionConfiguration.protocolClasses` whose requests this client carries.
    ///
    /// Each call makes another class, which keeps the client for as long as the process lives: ask once for a
    /// client, not once for a session.
    public func urlProtocolClass(
        hosts: [HostPattern]? = nil,
        schemes: Set<HTTPURL.Scheme> = [.http, .https]
    ) -> DirectURLProtocol.Type {
        BoundProtocols.make(URLProtocolBinding(self, hosts: hosts, schemes: schemes))
    }
}

/// The classes made while the program runs.
///
/// A session makes the objects of a `URLProtocol` itself and says nothing of the configuration they come from: all
/// that tells bindings apart is the class. Without Objective-C no class can be allocated, but Swift makes a new one
/// for each new argument of a generic class; here the argument is a number, written as a type.
enum BoundProtocols {
    private static let bindings = Locked<[ObjectIdentifier: URLProtocolBinding]>([:])

    static func make(_ binding: URLProtocolBinding) -> DirectURLProtocol.Type {
        bindings.withLock { bindings in
            let made = numbered(bindings.count)
            bindings[ObjectIdentifier(made)] = binding
            return made
        }
    }

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

private final class BoundURLProtocol<Number>: DirectURLProtocol {
    override class var binding: URLProtocolBinding {
        BoundProtocols.binding(of: self) ?? super.binding
    }
}

private enum BinaryZero<Rest> {}
private enum BinaryOne<Rest> {}
