import DirectHTTP

let client = HTTPClient()
let response = try await client.get("https://www.example.com/")
print(response.status, response.body.count)
