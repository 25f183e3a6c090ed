import DirectHTTP

let client = try HTTPClient {
    $0.addresses = try StaticMap(curl: ["www.example.com:443:203.0.113.7", "*.staging.test:*:10.0.0.5"])
}
print(try await client.get("https://www.example.com/").status)
