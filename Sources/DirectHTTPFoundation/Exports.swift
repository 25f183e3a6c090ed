// Programs that move from URLSession need the client, its settings and its errors too, and JSON.
@_exported public import DirectHTTP
@_exported public import DirectHTTPJSON
