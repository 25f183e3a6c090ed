import DirectHTTP

let client = HTTPClient()
var request = HTTPClient.Request(.get, "https://www.example.com/")
request.addresses = ["203.0.113.99"]
do {
    let response = try await client.fetch(request)
    print(response.status, response.body.count)
} catch let error as HTTPError {
    if case .tls(.nameMismatch(let expected, let served)) = error.reason {
        print("\(expected) was asked for, \(served) answered")
    } else {
        print(error)
    }
}
