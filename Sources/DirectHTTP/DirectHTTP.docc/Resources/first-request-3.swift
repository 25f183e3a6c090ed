import DirectHTTP

let client = HTTPClient()
var request = HTTPClient.Request(.get, "https://www.example.com/")
request.addresses = ["203.0.113.7"]
let response = try await client.fetch(request)
print(response.status, response.body.count)
if let transaction = response.transaction {
    print(transaction.name, transaction.endpoint as Any, transaction.source)
    print(transaction.tls?.version ?? "plain")
}
