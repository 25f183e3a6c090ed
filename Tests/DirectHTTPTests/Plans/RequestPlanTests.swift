import Testing

@testable import DirectHTTP

/// What follows of forty requests before a byte moves. The rows are written from the documents, not from what
/// the code prints.
struct RequestPlanTests {
    @Test("A request is planned as the documents say", arguments: zip(PlannedRequest.all, rows))
    func row(request: PlannedRequest, expected: String) throws {
        #expect(try request.row == expected)
    }

    @Test("Each request has its row")
    func count() {
        #expect(PlannedRequest.all.count == rows.count)
    }
}

private let rows = [
    "A name | http://a.test/ | direct | system | - | -",
    "A name over TLS, at another port | https://a.test:8443/x?y=1 | direct | system | - | -",
    "An address in place of the name | https://192.0.2.1/ | direct | 192.0.2.1:443 (url) | - | -",
    "An IPv6 address in place of the name | http://[2001:db8::1]:81/ | direct | [2001:db8::1]:81 (url) | - | -",
    "Addresses of the request | https://a.test/ | direct | 192.0.2.1:443, 192.0.2.2:81 (request) | - | -",
    "An empty list of addresses | refused: an empty list of addresses",
    "A map of the client | https://a.test/ | direct | 192.0.2.3:443 (staticMap) | - | -",
    "A map of the client, and addresses of the request | https://a.test/ | direct | 192.0.2.1:443 (request) | - | -",
    "A map of the client, and one of the request | https://a.test/ | direct | 192.0.2.4:443 (request) | - | -",
    "A resolver of the client | https://a.test/ | direct | ask of-client | - | -",
    "A resolver of the client, and a map that has the name | https://a.test/ | direct | 192.0.2.3:443 (staticMap) | - | -",
    "A resolver of the client, and one of the request | https://a.test/ | direct | ask of-request | - | -",
    "A resolver, and an address in the URL | http://192.0.2.1/ | direct | 192.0.2.1:80 (url) | - | -",
    "A proxy | https://a.test/ | http://proxy.test:3128 | by proxy | - | -",
    "A proxy for a request without TLS | http://a.test/ | http://proxy.test:3128 | by proxy | - | -",
    "A proxy, and an exception for the name | http://b.test/ | direct | system | - | -",
    "A proxy of the request | http://a.test/ | http://proxy.test:3128 | by proxy | - | -",
    "A proxy of the client, and none for the request | http://a.test/ | direct | system | - | -",
    "A proxy, and addresses of the request | https://a.test/ | http://proxy.test:3128 | 192.0.2.1:443 (request) | - | -",
    "A proxy, and a resolver of the client | https://a.test/ | http://proxy.test:3128 | by proxy | - | -",
    "A proxy to which the client names addresses, and a resolver | https://a.test/ | socks5://proxy.test:1080 | ask of-client | - | -",
    "A proxy, and an address in the URL | https://192.0.2.1/ | http://proxy.test:3128 | by proxy | - | -",
    "A Unix domain socket of the request | http://a.test/ | direct | unix /run/a.sock | - | -",
    "A Unix domain socket of the client | http://a.test/x | direct | unix /run/a.sock | - | -",
    "A Unix domain socket for another origin | https://a.test/ | direct | system | - | -",
    "A Unix domain socket of the client, and addresses of the request | http://a.test/ | direct | 192.0.2.1:80 (request) | - | -",
    "A Unix domain socket of the request, and addresses | refused: the request has both a Unix domain socket and addresses",
    "A Unix domain socket of the client, and a proxy | http://a.test/ | direct | unix /run/a.sock | - | -",
    "A redirect of another server to a Unix domain socket | refused: a redirect leads to an origin that is reached over a Unix domain socket",
    "HSTS for the name | https://a.test/ | direct | system | - | -",
    "HSTS for the name, at another port | https://a.test:8080/ | direct | system | - | -",
    "HSTS, and a Unix domain socket for http | https://a.test/ | direct | system | - | -",
    "A redirect to a name with HSTS | https://a.test/ | direct | system | - | -",
    "A path below the base URL | https://a.test/users?n=1 | direct | system | certificate | x-api-key",
    "A URL at the base's origin | https://a.test/x | direct | system | certificate | x-api-key",
    "A URL elsewhere than the base | https://b.test/x | direct | system | - | -",
    "An interceptor sends a copy to another path | https://a.test/other | direct | 192.0.2.1:443 (request) | certificate | x-api-key",
    "An interceptor sends a copy to another origin | https://b.test/ | direct | system | - | -",
    "An interceptor makes a request for another origin, with a field for it | https://b.test/ | direct | system | - | authorization",
    "A redirect to another origin | https://b.test/ | direct | system | - | -",
]
