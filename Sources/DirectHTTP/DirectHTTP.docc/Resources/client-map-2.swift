import DirectHTTP
import DirectResolvers

/// Stands for the call of your HTTPDNS library.
func lookUp(_ name: String) async throws -> [String] {
    ["203.0.113.7"]
}

let client = HTTPClient {
    let service = ClosureResolver("httpdns", timeToLive: .seconds(60)) { name in
        try await lookUp(name.text)
    }
    $0.resolver = CachingResolver(service)
}
print(try await client.get("https://www.example.com/").status)
