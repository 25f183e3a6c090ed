package import DirectCore

/// The data of one HTTPS record (RFC 9460, section 2.2).
package struct ServiceBinding: Hashable, Sendable {
    /// The order; 0 is an alias.
    package private(set) var priority: UInt16
    /// The name of the addresses, or where an alias leads to; `nil` is the record's own name.
    package private(set) var target: DomainName?
    /// The ALPN protocols of the server.
    package private(set) var protocols: [[UInt8]] = []
    /// The port, if it is not the URL's.
    package private(set) var port: UInt16?
    /// The addresses that the record names.
    package private(set) var hints: [IPAddress] = []
    /// The configurations for Encrypted Client Hello, if one of them can be used.
    package private(set) var encryptedClientHello: ECHConfigList?
    /// Whether this client can do what the record says (RFC 9460, sections 2.4.3 and 8).
    package private(set) var isUsable = true

    /// Parses the data of a record; `nil` if it is malformed.
    package init?(_ data: [UInt8]) {
        var reader = ByteReader(data[...])
        guard let priority = reader.number(bytes: 2), let name = Self.name(&reader) else { return nil }
        self.priority = UInt16(priority)
        if !name.isEmpty {
            target = Self.domainName(name)
            isUsable = target != nil
        }
        // The parameters of an alias are ignored (section 2.4.2).
        guard priority > 0 else { return }
        var parameters = Parameters()
        guard let pairs = reader.pairs() else { return nil }
        for (key, value) in pairs {
            guard parameters.isNext(key), take(Key(rawValue: key), value, &parameters) else { return nil }
        }
        complete(parameters)
    }

    /// The keys that are known here (section 14.3.2).
    enum Key: Int {
        case mandatory, alpn, noDefaultALPN, port, ipv4Hint, ech, ipv6Hint
    }

    /// What is known of the parameters while they are read.
    private struct Parameters {
        var keys: [Int] = []
        var mandatory: [Int] = []

        /// Notes a key. Keys are in strictly increasing order.
        mutating func isNext(_ key: Int) -> Bool {
            defer { keys.append(key) }
            return keys.last.map { $0 < key } ?? true
        }

        func has(_ key: Key) -> Bool { keys.contains(key.rawValue) }

        /// Whether the parameters agree with each other, and all that are mandatory are known.
        var isConsistent: Bool {
            mandatory.allSatisfy { keys.contains($0) && Key(rawValue: $0) != nil }
                && (has(.alpn) || !has(.noDefaultALPN))
        }
    }

    /// Takes the value of a parameter; returns whether it has the form that its key demands.
    private mutating func take(_ key: Key?, _ value: ArraySlice<UInt8>, _ parameters: inout Parameters)
        -> Bool
    {
        var reader = ByteReader(value)
        switch key {
        case .mandatory:
            while let key = reader.number(bytes: 2) {
                guard key > parameters.mandatory.last ?? 0 else { return false }
                parameters.mandatory.append(key)
            }
        case .alpn:
            while !reader.isAtEnd {
                guard let name = reader.vector(lengthBytes: 1), !name.isEmpty else { return false }
                protocols.append(Array(name))
            }
        case .noDefaultALPN: return value.isEmpty
        case .port: port = reader.number(bytes: 2).map { UInt16($0) }
        case .ipv4Hint: while let address = reader.take(4) { takeHint(address) }
        case .ipv6Hint: while let address = reader.take(16) { takeHint(address) }
        case .ech: return takeConfigurations(Array(value))
        case nil: return true
        }
        return reader.isAtEnd && !value.isEmpty
    }

    private mutating func takeHint(_ bytes: ArraySlice<UInt8>) {
        if let address = IPAddress(bytes: bytes) { hints.append(address) }
    }

    /// A list without a usable configuration is like none (RFC 9849, section 6.1).
    private mutating func takeConfigurations(_ bytes: [UInt8]) -> Bool {
        do throws(ECHConfigError) {
            encryptedClientHello = try ECHConfigList(bytes)
            return true
        } catch {
            return error != .malformed
        }
    }

    /// Adds the default protocol (section 9.1.2), and decides whether the record can be used.
    private mutating func complete(_ parameters: Parameters) {
        if !parameters.has(.noDefaultALPN), !protocols.contains(Self.http1) { protocols.append(Self.http1) }
        let needsECH = parameters.mandatory.contains(Key.ech.rawValue)
        isUsable =
            isUsable && parameters.isConsistent && port != 0 && protocols.contains(Self.http1)
            && (!needsECH || encryptedClientHello != nil)
    }

    /// Reads a name, which is not compressed (section 2.2); returns its labels.
    private static func name(_ reader: inout ByteReader) -> [ArraySlice<UInt8>]? {
        var labels: [ArraySlice<UInt8>] = []
        var length = 1
        while let size = reader.number(bytes: 1) {
            if size == 0 { return labels }
            length += size + 1
            guard size < 64, length <= 255, let label = reader.take(size) else { return nil }
            labels.append(label)
        }
        return nil
    }

    private static func domainName(_ labels: [ArraySlice<UInt8>]) -> DomainName? {
        let dot = UInt8(ascii: ".")
        guard labels.allSatisfy({ !$0.contains(dot) }) else { return nil }
        return try? Array(labels.joined(separator: [dot])).withSpan(DomainName.init(utf8:))
    }

    private static let http1 = Array("http/1.1".utf8)
}

/// The HTTPS records of one name, taken together.
package enum ServiceBindings: Hashable, Sendable {
    /// The records of this name count instead.
    case alias(DomainName)
    /// The records that can be used, those with the lowest priority first. Empty if there are none.
    case services([ServiceBinding])
    /// There are records, and none can be used; `nil` if one of them is malformed.
    case unusable(protocols: [[UInt8]]?)

    /// Takes all records of a name; `nil` stands for one that is malformed.
    ///
    /// With one malformed record, none counts (RFC 9460, section 2.2). With an alias, no other record counts
    /// (section 2.4.1). An alias to the root says that there is no such service, which is ignored (section
    /// 2.5.1).
    package init(_ all: [ServiceBinding?]) {
        let bindings = all.compactMap { $0 }
        guard bindings.count == all.count else {
            self = .unusable(protocols: nil)
            return
        }
        guard let alias = bindings.first(where: { $0.priority == 0 }) else {
            let usable = bindings.filter(\.isUsable).enumerated().sorted {
                ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset)
            }
            self = .services(usable.map(\.element))
            if usable.isEmpty, !bindings.isEmpty {
                self = .unusable(protocols: bindings.flatMap(\.protocols))
            }
            return
        }
        self = alias.target.map { .alias($0) } ?? .services([])
    }
}
