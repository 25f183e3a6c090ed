// Who moves over from URLSession needs the client, its settings and its errors too.
@_exported public import DirectHTTP
