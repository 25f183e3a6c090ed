internal import DirectProxy
internal import DirectResolvers

/// The value of `--doh`: the URL of a DNS server, and its address, as its own name cannot be asked of it.
enum DohOption {
    static func resolver(_ value: String) throws(Mistake) -> any Resolver {
        guard let at = value.lastIndex(of: "@"), let url = try? HTTPURL(String(value[..<at])),
            url.scheme == .https
        else {
            throw Mistake(
                line:
                    "--doh \(value): it takes a URL and an address, https://dns.example/dns-query@192.0.2.53"
            )
        }
        let servers: [Endpoint]
        do throws(AddressError) {
            var all: [Endpoint] = []
            for text in value[value.index(after: at)...].split(
                separator: ",",
                omittingEmptySubsequences: false
            ) {
                let endpoint = try Endpoint(String(text))
                all.append(endpoint.port == nil ? Endpoint(endpoint.address, port: url.port) : endpoint)
            }
            servers = all
        } catch {
            throw Mistake(line: "--doh \(value): \(error)")
        }
        let path = url.path == "/" ? "/dns-query" : url.path
        return CachingResolver(DNSOverHTTPS(.https(servers, name: url.host.name?.text), path: path))
    }
}
